// @ts-check
/**
 * Two runs by turn: what each said in it, and where they first differ. Pure.
 *
 * @typedef {import("page/apply").Record} Record
 * @typedef {{k: number, id: string, actor: string, icon: string, channel?: string, text: string, turn: number, isSame: boolean}} Line
 * @typedef {{turn: number, sides: [Line[], Line[]], ends: [number, number], isSame: boolean}} TurnRow
 * @typedef {{rows: TurnRow[], sameRows: number, differsAt: {row: number, k: number}|null}} Aligned
 */

const spoken = new Set(["line", "judge", "visitor", "world", "error"]);

/**
 * @param {[Record[], Record[]]} records of each run, behind what they share
 * @param {[number, number]} shared the number of the last event that they share, in each
 * @returns {Aligned}
 */
export function aligned(records, shared) {
  const turns = /** @type {[Map<number, Line[]>, Map<number, Line[]>]} */ (records.map(linesByTurn));
  const numbers = [...new Set([...turns[0].keys(), ...turns[1].keys()])].sort((a, b) => a - b);
  /** @type {[number, number]} */
  const ends = [...shared];
  /** @type {TurnRow[]} */
  const rows = numbers.map((turn) => {
    const sides = /** @type {[Line[], Line[]]} */ (turns.map((side) => side.get(turn) ?? []));
    markSame(sides);
    sides.forEach((lines, side) => (ends[side] = lines.at(-1)?.k ?? ends[side]));
    return { turn, sides, ends: [...ends], isSame: sides.every((lines) => lines.every((line) => line.isSame)) };
  });
  const first = rows.findIndex((row) => !row.isSame);
  return { rows, sameRows: first < 0 ? rows.length : first, differsAt: first < 0 ? null : { row: first, k: firstOther(rows[first], rows[first - 1]?.ends[0] ?? shared[0]) } };
}

/** @param {Record[]} records @returns {Map<number, Line[]>} */
function linesByTurn(records) {
  const turns = new Map();
  for (const { k, id, row } of records) {
    if (!spoken.has(row.icon) || !row.text) continue;
    const line = { k, id, actor: row.actor, icon: row.icon, channel: row.channel, text: row.text, turn: row.turn, isSame: false };
    if (turns.has(row.turn)) turns.get(row.turn).push(line);
    else turns.set(row.turn, [line]);
  }
  return turns;
}

/** A line is the same if the other run has it in the same turn. @param {[Line[], Line[]]} sides */
function markSame([left, right]) {
  const waiting = new Map();
  for (const line of right) {
    const key = JSON.stringify([line.actor, line.icon, line.text]);
    waiting.set(key, [...(waiting.get(key) ?? []), line]);
  }
  for (const line of left) {
    const twin = waiting.get(JSON.stringify([line.actor, line.icon, line.text]))?.shift();
    if (twin) line.isSame = twin.isSame = true;
  }
}

/** The event of the first run from which on it is another; the next one if it said nothing there. @param {TurnRow} row @param {number} before */
const firstOther = (row, before) => row.sides[0].find((line) => !line.isSame)?.k ?? before + 1;
