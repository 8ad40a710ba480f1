// @ts-check
/**
 * The view after a record: the twin of `views/page.py`. The page never interprets an event; it applies records.
 *
 * Always holds: an entry of a table is never changed; one that changes is replaced by another object. So a copy of a view
 * costs its tables alone, and whoever draws an entry sees by its identity whether it is another one.
 *
 * @typedef {{icon: string, actor: string, turn: number, graph?: string, text?: string, channel?: string,
 *   tokens?: number, usd?: number|null}} Row
 * @typedef {{k: number, p: number|null, id: string, row: Row, d: any[][]}} Record
 * @typedef {{n: number, text: string, kind: string, channel?: string, answers?: string,
 *   fields?: {[name: string]: string|number|boolean|string[]}}} Line
 * @typedef {{handle: string, role: string, title?: string, bio?: string, run?: string, graph: string, team?: string, parent?: string,
 *   profile?: string, model?: string, played_by?: string, is_running: boolean, is_privileged: boolean, line?: Line,
 *   mood?: string, thought?: string, owes?: {n: number, count: number}, tool?: string, error?: string,
 *   withheld?: {[tool: string]: string[]}}} Creature
 * @typedef {{text: string, is_read_only: boolean, digest: string}} DescribedTool
 * @typedef {{name: string, session: string, turn: number, colour: number}} Graph
 * @typedef {{name: string, description?: string, graph: string, edges: {[creature: string]: number}}} Channel
 * @typedef {{from: string, to: string, with_content: boolean, when?: any}} Wire
 * @typedef {{graph: string, origin: string, parents: [string, number][], first: number, last: number, name?: string,
 *   colour?: number}} Lane
 * @typedef {{title: string, goal?: string, seed: string, rng_seed: number, state: string, is_edited?: boolean, reason?: string, axis?: string,
 *   winner?: string, why?: string, full_turns?: number, ending?: {text: string, lines: number}, branch_of?: {run_id: string, at: string}, limits?: any,
 *   spent: {turns: number, calls: number, tokens: number, usd: number|null}}} Run
 * @typedef {{k: number, position: number|null, event_id: string, role: string, runs: {[id: string]: Run},
 *   scene: {title?: string, text?: string, n?: number}, graphs: {[id: string]: Graph},
 *   creatures: {[id: string]: Creature}, channels: {[id: string]: Channel}, wires: {[id: string]: Wire},
 *   lanes: {[session: string]: Lane}, approvals: {[event: string]: any}, tools: {[key: string]: DescribedTool},
 *   contest: {teams: any, score: any, verdicts: any[], sealed: any}}} View
 */

const listItemsMax = 20;
const tables = /** @type {const} */ (["runs", "graphs", "creatures", "channels", "wires", "lanes", "approvals", "tools", "contest"]);

/**
 * Bring a view to what it is after the event of a record.
 * @param {View} view
 * @param {Record} record
 */
export function apply(view, record) {
  for (const op of record.d) change(view, op, record.row.text ?? "");
  view.k = record.k;
  view.position = record.p;
  view.event_id = record.id;
  const session = sessionOf(record.id);
  view.lanes[session] = { ...view.lanes[session], last: record.k };
}

/** @param {any} view @param {any[]} op @param {string} text */
function change(view, [what, path, value, textName], text) {
  let part = view;
  for (let depth = 0; depth < path.length - 1; depth += 1) {
    const step = path[depth];
    if (depth > 0) part[step] = { ...part[step] }; // The tables themselves belong to this view.
    part = part[step];
  }
  const name = path[path.length - 1];
  if (what === "x") delete part[name];
  else if (what === "a") part[name] = [...(part[name] ?? []), value].slice(-listItemsMax);
  else part[name] = textName ? { ...value, [textName]: text } : value;
}

/** A view of its own: later changes of one do not show in the other. @param {View} view @returns {View} */
export function cloneView(view) {
  const copy = /** @type {any} */ ({ ...view });
  for (const name of tables) copy[name] = { .../** @type {any} */ (view)[name] };
  return copy;
}

/** The session in an event's id. @param {string} eventId */
export function sessionOf(eventId) {
  return eventId.slice(0, eventId.lastIndexOf("."));
}

/**
 * The graph that a row belongs to; a row leaves it out where its lane says it.
 * @param {View} view
 * @param {Record} record
 */
export function graphOf(view, record) {
  return record.row.graph ?? view.lanes[sessionOf(record.id)]?.graph ?? "";
}

/**
 * The colour number of a graph, also of one that is gone.
 * @param {View} view
 * @param {string} graph
 * @returns {number}
 */
export function colourOf(view, graph) {
  const living = view.graphs[graph];
  if (living) return living.colour;
  for (const lane of Object.values(view.lanes)) if (lane.graph === graph && lane.colour !== undefined) return lane.colour;
  return 0;
}

/**
 * How a creature's name is shown: its title, or its handle in words: "hedge-squirrel" is Hedge Squirrel.
 * @param {string} handle
 * @param {View|null} [view] the view that knows its title
 */
export function nameOf(handle, view) {
  const title = view ? creatureCalled(view, handle)?.[1].title : undefined;
  if (title) return title;
  return handle
    .split(/[-_ ]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");
}

/**
 * The creature with a handle, and its id. Most have their handle as id.
 * @param {View} view
 * @param {string} handle
 * @returns {[string, Creature]|undefined}
 */
export function creatureCalled(view, handle) {
  const likely = view.creatures[handle];
  if (likely?.handle === handle) return [handle, likely];
  return Object.entries(view.creatures).find(([, creature]) => creature.handle === handle);
}
