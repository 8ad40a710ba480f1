// @ts-check
/** Parts of the page that are loaded when they are first shown: what the first picture does not need does not come with it. */
import { html, useEffect, useState } from "page/html";
import { toast } from "page/toast";

/**
 * A component whose module is loaded when it is first drawn.
 * @param {() => Promise<any>} load the component
 */
export function later(load) {
  /** @type {any} */
  let Part = null;
  /** @type {Promise<void>|null} */
  let loading = null;
  const loaded = async () => {
    try {
      Part = await load();
    } catch {
      loading = null; // It is tried again when it is wanted again.
      toast("A part of the page could not be loaded. Reload the page.", { kind: "error" });
    }
  };
  /** @param {any} props */
  return function Later(props) {
    const [, drawAgain] = useState(0);
    useEffect(() => {
      let isGone = false;
      if (!Part) void (loading ??= loaded()).then(() => !isGone && drawAgain((times) => times + 1));
      return () => {
        isGone = true;
      };
    }, []);
    return Part ? html`<${Part} ...${props} />` : null;
  };
}

/** Let the fonts come that the first picture is drawn without. */
export function showLaterFonts() {
  const style = /** @type {HTMLStyleElement|null} */ (document.getElementById("later-fonts"));
  if (style && style.media !== "all") style.media = "all";
}
