// @ts-check
/** Style sheets that come with the part of the page that needs them. */

/** Have a style sheet applied, once. Its address is in the import map, as those of modules are. @param {string} name */
export function styled(name) {
  const href = import.meta.resolve(`page/${name}.css`);
  const known = /** @type {HTMLLinkElement|null} */ (document.querySelector(`link[rel="stylesheet"][href="${CSS.escape(href)}"]`));
  if (known?.sheet) return undefined;
  const link = known ?? Object.assign(document.createElement("link"), { rel: "stylesheet", href });
  return new Promise((resolve, reject) => {
    link.addEventListener("load", resolve, { once: true });
    link.addEventListener("error", () => (link.remove(), reject(new Error(`${name} is not to be had`))), { once: true });
    if (!known) document.head.append(link);
  });
}
