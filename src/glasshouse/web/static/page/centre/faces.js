// @ts-check
/**
 * Which face of the play stands in the centre: the graph, the script, the table or the teams.
 *
 * Always holds: what the address names is shown; else what this person chose last; else what suits the play as it was when it was opened,
 * so that a merge does not take the face away from whoever looks at it.
 */
import { computed, signal } from "@preact/signals";
import { address, setAddress } from "page/address";
import { form } from "page/form";
import { moment, session, view } from "page/store";

/** @typedef {"graph"|"script"|"table"|"teams"} FaceName */

/** @type {{name: FaceName, label: string}[]} */
export const faces = [
  { name: "graph", label: "Graph" },
  { name: "script", label: "Script" },
  { name: "table", label: "Table" },
  { name: "teams", label: "Teams" },
];

const keptAs = "glasshouse.face";

/** @param {string|null|undefined} name @returns {FaceName|undefined} */
const known = (name) => faces.find((face) => face.name === name)?.name;

const chosen = signal(known(address().face) ?? kept());

/** What suits the run that is shown, once it is known. @type {{run: string, name: FaceName}|null} */
let suited = null;

/** @returns {FaceName|undefined} */
function kept() {
  try {
    return known(localStorage.getItem(keptAs));
  } catch {
    return undefined;
  }
}

/** The face that suits a play: teams have their own, one graph is a table. @param {import("page/apply").View} shown @returns {FaceName} */
export function faceFor(shown) {
  if (hasTeams(shown)) return "teams";
  return Object.keys(shown.graphs).length === 1 ? "table" : "graph";
}

/** Whether teams play against each other. @param {import("page/apply").View} shown */
export const hasTeams = (shown) => Object.keys(shown.contest?.teams ?? {}).length > 1;

/** The face that is shown. */
export const face = computed(() => {
  moment.value;
  if (chosen.value) return chosen.value;
  if (form.value !== "wide") return "graph"; // The words have a tab of their own.
  const now = view();
  const { run } = session.value;
  if (suited?.run === run) return suited.name;
  if (!now || !Object.keys(now.graphs).length) return "graph";
  suited = { run, name: faceFor(now) };
  return suited.name;
});

/** Show a face from now on, here and in the next play. @param {FaceName} name */
export function chooseFace(name) {
  chosen.value = name;
  setAddress({ face: name });
  try {
    localStorage.setItem(keptAs, name);
  } catch {
    // A browser that keeps nothing forgets it.
  }
}
