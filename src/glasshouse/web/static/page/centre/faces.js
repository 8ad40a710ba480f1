// @ts-check
/**
 * Which face of the play stands in the centre: the graph, the script, the table or the teams.
 *
 * Always holds: what the address names is shown; else what this person chose last; else what suits the play. What suits is settled when
 * the first turn begins, by every graph that there has been, so neither a merge nor a look back takes the face away (ADR 0131).
 */
import { computed, effect, signal } from "@preact/signals";
import { address, setAddress } from "page/address";
import { form } from "page/form";
import { register } from "page/keys";
import { head, headView, moment, session } from "page/store";

/** @typedef {"graph"|"script"|"table"|"teams"} FaceName */
/** @typedef {import("page/apply").View} View */

/** @type {{name: FaceName, label: string, key: string}[]} */
export const faces = [
  { name: "graph", label: "Graph", key: "1" },
  { name: "script", label: "Script", key: "2" },
  { name: "table", label: "Table", key: "3" },
  { name: "teams", label: "Teams", key: "4" },
];

const keptAs = "glasshouse.face";
/** When nothing has come for so long, the opening is complete: its graphs come within one change of the ledger. */
const quietMilliseconds = 400;

/** @param {string|null|undefined} name @returns {FaceName|undefined} */
const known = (name) => faces.find((face) => face.name === name)?.name;

const chosen = signal(known(address().face) ?? kept());

/** The newest event after which nothing came for a while, and its run. */
const quietSince = signal({ run: "", k: 0 });

/** What suits the run that is shown, once that is settled. @type {{run: string, name: FaceName}|null} */
let suited = null;

/** @returns {FaceName|undefined} */
function kept() {
  try {
    return known(localStorage.getItem(keptAs));
  } catch {
    return undefined;
  }
}

/** The face that suits a play: teams have their own; one graph, now and ever, is a table. @param {View} view @returns {FaceName} */
export function faceFor(view) {
  if (hasTeams(view)) return "teams";
  const graphs = new Set(Object.keys(view.graphs));
  for (const { graph, name } of Object.values(view.lanes)) if (name) graphs.add(graph);
  return graphs.size === 1 ? "table" : "graph";
}

/** Whether teams play against each other. @param {View} view */
export const hasTeams = (view) => Object.keys(view.contest?.teams ?? {}).length > 1;

/** Whether the opening of a play is over: a turn has begun, or something was said. @param {View} view */
export const hasBegun = (view) => Object.values(view.graphs).some(({ turn }) => turn > 0) || Object.values(view.creatures).some(({ line }) => line) || Object.values(view.runs).every(({ state }) => state === "finished");

/**
 * The face for a view that may still be opening: graphs come one by one, so one graph is a table only when no other follows it.
 * @param {View} view @param {boolean} isQuiet whether nothing has come for a while
 * @returns {FaceName}
 */
export function faceAtOpening(view, isQuiet) {
  const name = faceFor(view);
  return name !== "table" || isQuiet || hasBegun(view) ? name : "graph";
}

/** What suits the play that is shown. */
const suiting = computed(() => {
  moment.value;
  if (form.value !== "wide") return "graph"; // The words have a tab of their own.
  const { run } = session.value;
  if (suited?.run === run) return suited.name;
  const view = headView();
  if (!view || !Object.keys(view.graphs).length) return "graph";
  const name = faceAtOpening(view, quietSince.value.run === run && quietSince.value.k === head.value);
  if (hasBegun(view)) suited = { run, name };
  return name;
});

/** The face that is shown. A choice that the play cannot show waits for one that can. @type {import("@preact/signals").ReadonlySignal<FaceName>} */
export const face = computed(() => {
  moment.value;
  const view = headView();
  const name = chosen.value;
  return name && (name !== "teams" || (view && hasTeams(view))) ? name : suiting.value;
});

/** What a face is called. @param {FaceName} name */
export const labelOf = (name) => faces.find((other) => other.name === name)?.label ?? "";

/** The faces that the play can show. @returns {typeof faces} */
export function offeredFaces() {
  const view = headView();
  return faces.filter(({ name }) => name !== "teams" || (view !== null && hasTeams(view)));
}

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

/** Take the keys of the faces, and watch for the end of an opening. Returns what ends that. */
export function registerFaces() {
  const hasRun = () => headView() !== null;
  const ends = faces.map(({ name, label, key }) =>
    register({ id: `face-${name}`, key, label: `Show the ${label.toLowerCase()}`, group: "Faces", when: () => hasRun() && offeredFaces().some((other) => other.name === name), run: () => chooseFace(name) }),
  );
  const endWatch = effect(() => {
    const [run, k] = [session.value.run, head.value];
    const isSettled = suited?.run === run || (chosen.value && chosen.value !== "teams");
    if (!k || isSettled) return undefined;
    const timer = setTimeout(() => (quietSince.value = { run, k }), quietMilliseconds);
    return () => clearTimeout(timer);
  });
  return () => [...ends, endWatch].forEach((end) => end());
}
