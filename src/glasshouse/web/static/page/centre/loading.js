// @ts-check
/** The modules of the faces beside the graph: they come when a face is first shown, so a first visit is not made to wait for all. */
import { signal } from "@preact/signals";

/** @typedef {"script"|"table"|"teams"} LoadedFace */

/** The parts of the script, all at once: a browser would find out about each only when it has read the one that imports it. */
const scriptParts = () =>
  Promise.all([import("page/script/panel"), import("page/script/list"), import("page/script/layout"), import("page/script/items"), import("page/script/row"), import("page/script/fold"), import("page/script/marks")]);

/** @type {{[name in LoadedFace]: () => Promise<any>}} */
const sources = {
  script: () => scriptParts().then(([{ Script }]) => Script),
  table: () => import("page/table/panel").then(({ Table }) => Table),
  teams: () => import("page/teams/panel").then(({ Teams }) => Teams),
};

/** The faces that are here; "lost" where the server did not answer. @type {import("@preact/signals").Signal<{[name: string]: any}>} */
export const loaded = signal({});
/** @type {Set<string>} */
const underWay = new Set();

/** Have a face loaded, once. @param {string} name */
export async function loadFace(name) {
  const source = sources[/** @type {LoadedFace} */ (name)];
  const isHere = loaded.value[name] && loaded.value[name] !== "lost";
  if (!source || underWay.has(name) || isHere) return;
  underWay.add(name);
  try {
    const component = await source();
    loaded.value = { ...loaded.value, [name]: component };
  } catch {
    loaded.value = { ...loaded.value, [name]: "lost" };
  } finally {
    underWay.delete(name);
  }
}
