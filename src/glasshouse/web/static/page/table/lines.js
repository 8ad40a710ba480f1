// @ts-check
/**
 * Who sits at which table, and what each said last. Everything comes from the view at the moment shown and the records before it.
 *
 * Always holds: the first line is the newest; a creature has one line at most; a table has a bounded number of seats.
 */
import { titleOf } from "page/graph/summary";
import { harmless } from "page/plain";
import { isSpeech } from "page/store";

/**
 * @typedef {import("page/apply").View} View
 * @typedef {import("page/apply").Record} Record
 * @typedef {{n: number, words: string}} Answered the number of the line that is answered, and how that is said: "builds on 44"
 */

/** A table with more seats shows those who spoke last. */
export const seatsMax = 24;
/** Up to so many seats everybody has a bubble; round a larger table only the last ones. */
const seatsWithBubblesMax = 8;
const bubblesOfMany = 4;
/** How many records before a line are searched for the one that it answers; each costs one look into a list. */
const recordsSearchedMax = 400;
const eventId = /^[^\s.]+\.\d+$/;

/** The number of a creature's last line; 0 if it has said nothing. @param {import("page/apply").Creature} creature */
export const lineNumber = ({ line }) => (line?.text ? line.n : 0);

/** The graphs that have somebody, each with its creatures in the order of their births. @param {View} view @returns {Map<string, string[]>} */
export function tablesOf(view) {
  /** @type {Map<string, string[]>} */
  const tables = new Map(Object.keys(view.graphs).map((graph) => [graph, []]));
  for (const [id, { graph }] of Object.entries(view.creatures)) tables.get(graph)?.push(id);
  for (const [graph, ids] of tables) if (!ids.length) tables.delete(graph);
  return tables;
}

/** The graph whose table is shown: the one that was chosen, else that of the newest line, else the largest. @param {View} view @param {string} chosen */
export function tableShown(view, chosen) {
  const tables = tablesOf(view);
  if (tables.has(chosen)) return chosen;
  let [newest, graph] = [0, ""];
  for (const creature of Object.values(view.creatures)) {
    if (lineNumber(creature) <= newest || !tables.has(creature.graph)) continue;
    [newest, graph] = [lineNumber(creature), creature.graph];
  }
  if (graph) return graph;
  return [...tables].sort(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? "";
}

/** Who has a seat: all, or of very many the judge, visitors, and those who spoke last. @param {View} view @param {string} graph */
export function seatedAt(view, graph) {
  const ids = tablesOf(view).get(graph) ?? [];
  if (ids.length <= seatsMax) return ids;
  const rank = (/** @type {string} */ id) => lineNumber(view.creatures[id]) + (view.creatures[id].role === "judge" || view.creatures[id].played_by === "visitor" ? Number.MAX_SAFE_INTEGER / 2 : 0);
  const kept = new Set([...ids].sort((a, b) => rank(b) - rank(a)).slice(0, seatsMax));
  return ids.filter((id) => kept.has(id));
}

/** Whose lines stand round the table, the newest first. @param {View} view @param {string[]} seated */
export function spokenBy(view, seated) {
  const spoken = seated.filter((id) => lineNumber(view.creatures[id])).sort((a, b) => lineNumber(view.creatures[b]) - lineNumber(view.creatures[a]));
  return seated.length > seatsWithBubblesMax ? spoken.slice(0, bubblesOfMany) : spoken;
}

/**
 * The line that a line answers: the one that a field of its kind names, else the one that led to it. Null if that is no line of a creature.
 * @param {View} view @param {string} id @param {(k: number) => Record|undefined} recordOf @returns {Answered|null}
 */
export function answeredBy(view, id, recordOf) {
  const { line } = view.creatures[id];
  if (!line) return null;
  for (const [name, value] of Object.entries(line.fields ?? {})) {
    if (typeof value !== "string" || !eventId.test(value)) continue;
    const n = numberOf(value, line.n, recordOf);
    if (n) return { n, words: `${harmless(name).replace(/[._-]+/g, " ")} ${n}` };
  }
  const n = line.answers ? numberOf(line.answers, line.n, recordOf) : 0;
  return n ? { n, words: `answers ${n}` } : null;
}

/** The number of a creature's line by its id, if it is one of those before event `before`. @param {string} eventId @param {number} before @param {(k: number) => Record|undefined} recordOf */
export function numberOf(eventId, before, recordOf) {
  for (let k = before - 1; k > 0 && k > before - recordsSearchedMax; k -= 1) {
    const record = recordOf(k);
    if (record?.id !== eventId) continue;
    return isSpeech(record) && record.d.some(([, path]) => path[0] === "creatures" && path[2] === "line") ? k : 0;
  }
  return 0;
}

/** How a creature is called at its seat. @param {View} view @param {string} id */
export const nameAt = (view, id) => titleOf(view.creatures[id]);
