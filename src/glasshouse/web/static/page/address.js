// @ts-check
/** The page's address: which run, which moment, which filters, which layout. Links name events, whose ids never change. */

const names = /** @type {const} */ (["run", "at", "kind", "creature", "graph", "channel", "text", "layout", "panel", "face"]);

/** @typedef {{[name in typeof names[number]]?: string}} Address */

/** @returns {Address} */
export function address() {
  const query = new URLSearchParams(location.search);
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? undefined]));
}

/** Whether tests look at the page: the layout comes to rest at once, and the state can be read. */
export const isStill = new URLSearchParams(globalThis.location?.search ?? "").has("still");

let isOurs = true;

/** Leave the address alone from now on: a shared file has another one (`#56`), and may change no more of it. */
export const leaveAddress = () => {
  isOurs = false;
};

/**
 * Change parts of the address. What is undefined or empty goes. A new run is a step that "back" undoes; a new moment is not.
 * @param {Address} parts
 * @param {{isStep?: boolean}} [how]
 */
export function setAddress(parts, how = {}) {
  const next = isOurs ? linkTo(parts) : location.href;
  if (next === location.href) return;
  if (how.isStep) history.pushState(null, "", next);
  else history.replaceState(null, "", next);
}

/** The address of the page with parts of it changed. @param {Address} parts */
export function linkTo(parts) {
  const url = new URL(location.href);
  url.hash = "";
  for (const [name, value] of Object.entries(parts)) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  return url.href;
}
