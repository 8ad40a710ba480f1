// @ts-check
/**
 * Turns of a contest, folded from records one after another: a row for each, with what every team said in it. Scenes, disturbances and the lines
 * of creatures without a team stand between the rows.
 *
 * Always holds: to fold records one by one gives the same as to fold them at once, and what a moment shows depends on no record after it. An item
 * never moves once it is there: an answer is put into the row of what it answers.
 */
import { harmless } from "page/plain";

/**
 * @typedef {import("page/apply").Record} Record
 * @typedef {{[name: string]: string|number|boolean|string[]}} Fields
 * @typedef {{k: number, id: string, creature: string, turn: number, text: string, kind: string, fields: Fields}} Line
 * @typedef {{is: "turn", k: number, turn: number, cells: {[team: string]: Line[]}}} Turn
 * @typedef {{is: "beat", k: number, title: string, text: string}} Beat a scene
 * @typedef {{is: "aside", k: number, icon: "judge"|"visitor"|"line", line: Line}} Aside what somebody said who is in no team
 * @typedef {Turn|Beat|Aside} Item
 * @typedef {{k: number, lines: number, words: number, tokens: number, usd: number|null, yes: number, no: number, unsure: number}} Tally of a team, up to an event
 * @typedef {{from: number, to: number, items: Item[], tallies: {[team: string]: Tally[]}, rows: Map<string, {turn: Turn, team: string}>}} Turns
 *   from: the number before its first record; to: of its last one; rows: where the newest lines stand, by their ids
 */

/** An answer finds the row of what it answers among so many of the newest lines. */
const rowsKnownMax = 64;

/** No turn yet, of a story whose records begin after a number. @param {number} from @returns {Turns} */
export const noTurns = (from) => ({ from, to: from, items: [], tallies: {}, rows: new Map() });

/** Take in the next record. @param {Turns} turns @param {Record} record @param {(handle: string) => string} teamOf the name of a creature's team, or empty */
export function takeIn(turns, record, teamOf) {
  turns.to = record.k;
  const { icon, actor, text = "", tokens = 0, usd } = record.row;
  const team = teamOf(actor);
  const spoken = record.d.find(([what, path]) => what === "s" && path[0] === "creatures" && path[2] === "line");
  const scene = record.d.find(([what, path]) => what === "s" && path[0] === "scene" && path.length === 1);
  const line = spoken && text ? lineOf(record, spoken) : null;
  if (team && (line || tokens)) count(turns, team, record.k, line, tokens, usd);
  if (icon === "world" && scene && text) turns.items.push({ is: "beat", k: record.k, title: harmless(scene[2]?.title ?? ""), text: harmless(text) });
  else if (line && team) place(turns, line, team, spoken?.[2]?.answers ?? "");
  else if (line && icon !== "copy") turns.items.push({ is: "aside", k: record.k, icon: icon === "judge" ? "judge" : "line", line });
  else if (icon === "visitor" && text) turns.items.push({ is: "aside", k: record.k, icon: "visitor", line: lineOf(record, undefined) });
}

/** @param {Record} record @param {any[]|undefined} spoken @returns {Line} */
const lineOf = (record, spoken) => ({
  k: record.k,
  id: record.id,
  creature: spoken?.[1][1] ?? "",
  turn: record.row.turn,
  text: harmless(record.row.text ?? ""),
  kind: spoken?.[2]?.kind ?? "",
  fields: spoken?.[2]?.fields ?? {},
});

/**
 * Put a line into the row of what it answers, else into the row of its own turn, else into a new one.
 * @param {Turns} turns @param {Line} line @param {string} team @param {string} answers
 */
function place(turns, line, team, answers) {
  const { items, rows } = turns;
  const last = items[items.length - 1];
  const asked = rows.get(answers);
  const isFree = (/** @type {Turn} */ turn) => !turn.cells[team] || turn.cells[team][0].turn === line.turn;
  let row = asked && asked.team !== team && isFree(asked.turn) ? asked.turn : undefined;
  if (!row && last?.is === "turn" && last.turn === line.turn && isFree(last)) row = last;
  if (!row) {
    row = { is: "turn", k: line.k, turn: line.turn, cells: {} };
    items.push(row);
  }
  row.cells[team] = [...(row.cells[team] ?? []), line];
  rows.set(line.id, { turn: row, team });
  if (rows.size > rowsKnownMax) rows.delete(/** @type {string} */ (rows.keys().next().value));
}

/** @param {Turns} turns @param {string} team @param {number} k @param {Line|null} line @param {number} tokens @param {number|null|undefined} usd */
function count(turns, team, k, line, tokens, usd) {
  const all = (turns.tallies[team] ??= []);
  const before = all[all.length - 1] ?? noTally;
  const mark = line ? answerIn(line.fields) : "";
  all.push({
    k,
    lines: before.lines + (line ? 1 : 0),
    words: before.words + (line ? line.text.split(/\s+/).filter(Boolean).length : 0),
    tokens: before.tokens + tokens,
    usd: before.usd === null || usd === null ? null : before.usd + (usd ?? 0),
    yes: before.yes + (mark === "yes" ? 1 : 0),
    no: before.no + (mark === "no" ? 1 : 0),
    unsure: before.unsure + (mark === "unsure" ? 1 : 0),
  });
}

/** @type {Tally} */
const noTally = { k: 0, lines: 0, words: 0, tokens: 0, usd: 0, yes: 0, no: 0, unsure: 0 };

/** What a team has said and spent by an event. @param {Turns} turns @param {string} team @param {number} k @returns {Tally} */
export function tallyAt(turns, team, k) {
  const all = turns.tallies[team] ?? [];
  return all[countTo(all, k) - 1] ?? noTally;
}

/** How many items of a list there are up to an event: they are in its order. @param {{k: number}[]} list @param {number} k */
export function countTo(list, k) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle].k <= k) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** An item as it was at an event: without what was said later. @param {Item} item @param {number} k @returns {Item} */
export function itemAt(item, k) {
  if (item.is !== "turn" || !Object.values(item.cells).some((lines) => lines[lines.length - 1].k > k)) return item;
  const cells = Object.entries(item.cells).map(([team, lines]) => /** @type {[string, Line[]]} */ ([team, lines.filter((line) => line.k <= k)]));
  return { ...item, cells: Object.fromEntries(cells.filter(([, lines]) => lines.length)) };
}

/** A team that names something does so in few lines. */
const wordsMax = 3;

/**
 * The last word that a team has put into a field of a line, and the answer to it; null if it has named nothing, or does so in line after line.
 * @param {Item[]} items @param {string} team @param {number} k the moment shown @returns {{name: string, value: string, turn: number, count: number, answer: string}|null}
 */
export function wordOf(items, team, k) {
  let count = 0;
  /** @type {{turn: Turn, name: string, value: string}|null} */
  let last = null;
  for (const item of items) {
    if (item.is !== "turn") continue;
    for (const line of item.cells[team] ?? []) {
      const [detail] = line.k <= k ? detailsIn(line.fields) : [];
      if (!detail) continue;
      count += 1;
      last = { turn: item, ...detail };
    }
  }
  if (!last || count > wordsMax) return null;
  const { turn, name, value } = last;
  const others = Object.keys(turn.cells).filter((other) => other !== team).flatMap((other) => turn.cells[other]);
  const answer = others.filter((line) => line.k <= k).map((line) => answerIn(line.fields)).find(Boolean) ?? "";
  return { name, value, turn: turn.turn, count, answer };
}

/** The number of the newest line of some items. @param {Item[]} items */
export function newestIn(items) {
  let newest = 0;
  for (const item of items) {
    if (item.is === "aside") newest = Math.max(newest, item.k);
    else if (item.is === "turn") for (const lines of Object.values(item.cells)) newest = Math.max(newest, lines[lines.length - 1].k);
  }
  return newest;
}

const answers = new Map([["yes", "yes"], ["true", "yes"], ["no", "no"], ["false", "no"], ["unsure", "unsure"], ["maybe", "unsure"], ["unknown", "unsure"]]);

/** Whether a line says yes, no or neither in a field of its kind; empty if it has no such field. @param {Fields} fields @returns {""|"yes"|"no"|"unsure"} */
export function answerIn(fields) {
  for (const value of Object.values(fields)) {
    const answer = Array.isArray(value) || typeof value === "number" ? undefined : answers.get(String(value).toLowerCase());
    if (answer) return /** @type {"yes"|"no"|"unsure"} */ (answer);
  }
  return "";
}

const eventId = /^[^\s.]+\.\d+$/;

/** What else a line says in fields of its kind: words and numbers, but no links to events. @param {Fields} fields @returns {{name: string, value: string}[]} */
export function detailsIn(fields) {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (Array.isArray(value) || typeof value === "boolean" || answers.has(String(value).toLowerCase()) || eventId.test(String(value))) return [];
    return [{ name: harmless(name).replace(/[._-]+/g, " "), value: harmless(String(value)) }];
  });
}
