// @ts-check
/** Let the fonts come that the first picture is drawn without. */
export function showLaterFonts() {
  const style = /** @type {HTMLStyleElement|null} */ (document.getElementById("later-fonts"));
  if (style && style.media !== "all") style.media = "all";
}
