// @ts-check
/**
 * Lanes: the sessions of a story as lines on the axis of its events. Pure; nothing here draws.
 *
 * A line is one graph's life: its sessions one after the other. A branch goes on in the line that it grew from. Lines that
 * are not there at the same time share a row.
 *
 * @typedef {import("page/apply").View} View
 * @typedef {import("page/apply").Lane} Lane
 * @typedef {{k: number, kind: "birth"|"merge"|"split"|"fork", session: string, name: string}} Node
 * @typedef {{graph: string, colour: number, first: number, last: number, isOpen: boolean, nodes: Node[], sessions: number,
 *   row: number, comesFrom?: Line, goesInto?: Line}} Line
 * @typedef {{run: string, title: string, at: number, session: string, length: number, row: number, from?: Line}} Fork
 *   another run that grew out of this story, or goes on where this one left it
 * @typedef {{lines: Line[], forks: Fork[], rows: number, colours: Map<string, number>, lineOf: Map<string, Line>}} Lineage
 */
import { nameOf } from "page/apply";

/** Lines that follow each other in a row stay this share of the axis apart: there is room for a curve and a name. */
const gapShare = 0.03;
/** Another run is drawn no longer than this share: it only shows that it goes on. */
const forkShare = 0.14;

/**
 * The lines of a story, each in its row: the oldest that still goes on is on top.
 * @param {View} view the newest
 * @param {Omit<Fork, "row">[]} others runs that share a part of its past
 * @param {number} axisEvents how many events the axis has room for
 * @returns {Lineage}
 */
export function lineageOf(view, others, axisEvents) {
  const sessions = Object.entries(view.lanes).sort(([, a], [, b]) => a.first - b.first);
  /** @type {Map<string, Line>} */
  const lineOf = new Map();
  /** @type {Map<string, Line>} */
  const ofGraph = new Map();
  /** @type {Line[]} */
  const lines = [];
  for (const [session, lane] of sessions) {
    if (lane.colour === undefined) continue; // Nobody was in it: how a run begins.
    const parents = lane.parents.flatMap(([name]) => lineOf.get(name) ?? []);
    const heir = isContinuation(lane) && parents.length === 1 && !parents[0].goesInto ? parents[0] : undefined;
    let line = ofGraph.get(lane.graph) ?? heir;
    if (!line) {
      line = { graph: lane.graph, colour: lane.colour, first: lane.first, last: lane.last, isOpen: false, nodes: [], sessions: 0, row: 0 };
      if (parents.length) line.comesFrom = parents[0];
      lines.push(line);
    }
    ofGraph.set(lane.graph, line);
    lineOf.set(session, line);
    line.last = lane.last;
    line.sessions += 1;
    line.isOpen = view.graphs[lane.graph]?.session === session;
    for (const parent of parents) {
      if (lane.origin !== "merge" || parent === line) continue;
      parent.goesInto = line;
      parent.last = lane.first;
    }
    line.nodes.push({ k: lane.first, kind: kindOf(lane, line), session, name: lane.name ? nameOf(lane.name) : "" });
  }
  const forks = others.map((other) => ({ ...other, length: Math.min(other.length, axisEvents * forkShare), row: 0, from: lineOf.get(other.session) }));
  const rows = putIntoRows(lines, forks, axisEvents);
  return { lines, forks, rows, colours: coloursOf(view), lineOf };
}

/** @param {Lane} lane */
const isContinuation = (lane) => lane.origin === "branch" || lane.origin === "resume" || lane.origin === "import";

/** @param {Lane} lane @param {Line} line @returns {Node["kind"]} */
function kindOf(lane, line) {
  if (lane.origin === "merge" || lane.origin === "split") return lane.origin;
  return line.nodes.length ? "fork" : "birth";
}

/** @param {View} view */
function coloursOf(view) {
  const colours = new Map();
  for (const lane of Object.values(view.lanes)) if (lane.colour !== undefined) colours.set(lane.graph, lane.colour);
  for (const [id, graph] of Object.entries(view.graphs)) colours.set(id, graph.colour);
  return colours;
}

/**
 * Give each line the first row where nothing else is at its time. Returns how many rows there are.
 * @param {Line[]} lines
 * @param {Fork[]} forks
 * @param {number} axisEvents
 */
function putIntoRows(lines, forks, axisEvents) {
  const gap = axisEvents * gapShare;
  /** What is in each row: from when on it is taken for good, and up to when it was taken. @type {{opensAt: number, closedAt: number}[]} */
  const rows = [];
  for (const line of lines.filter(({ isOpen }) => isOpen)) line.row = rows.push({ opensAt: line.first, closedAt: -Infinity }) - 1;
  /** @param {number} first @param {number} last */
  const rowFor = (first, last) => {
    let row = rows.findIndex(({ opensAt, closedAt }) => first > closedAt + gap && last + gap < opensAt);
    if (row < 0) row = rows.push({ opensAt: Infinity, closedAt: -Infinity }) - 1;
    rows[row].closedAt = last;
    return row;
  };
  const others = [
    ...lines.filter((line) => !line.isOpen).map((line) => ({ line, first: line.first, last: line.last })),
    ...forks.map((fork) => ({ line: fork, first: fork.at, last: fork.at + fork.length })),
  ];
  for (const { line, first, last } of others.sort((a, b) => a.first - b.first)) line.row = rowFor(first, last);
  return rows.length;
}

/** How many rows are shown: the first few, and those where something still goes on. @param {Lineage} lineage @param {number} rowsMin */
export function rowsShown(lineage, rowsMin) {
  let rows = Math.min(lineage.rows, rowsMin);
  for (const line of lineage.lines) if (line.isOpen) rows = Math.max(rows, line.row + 1);
  for (const fork of lineage.forks) rows = Math.max(rows, fork.row + 1);
  return rows;
}
