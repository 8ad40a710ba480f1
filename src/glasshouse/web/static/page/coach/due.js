// @ts-check
/**
 * Which hint is due: three, once each, in this order, and only to those who may do what it says. Pure: values in, values out.
 *
 * @typedef {"time"|"draw"|"minds"} Hint
 * @typedef {{seen: Set<string>, lines: number, graphs: number, face: string, mayChange: boolean, mayRead: boolean, isCovered: boolean,
 *   places: Set<string>}} Facts what is in sight of what the hints are about
 */

/** Every hint, in order, and how many lines were said before: the first lines are read in peace. @type {{name: Hint, lines: number}[]} */
export const hints = [
  { name: "time", lines: 2 },
  { name: "draw", lines: 4 },
  { name: "minds", lines: 6 },
];

/** The hint that is due; null: none. @param {Facts} facts @returns {Hint|null} */
export function hintDue({ seen, lines, graphs, face, mayChange, mayRead, isCovered, places }) {
  if (isCovered) return null;
  const can = { time: true, draw: mayChange && graphs > 1 && face === "graph", minds: mayRead };
  return hints.find((hint) => !seen.has(hint.name) && can[hint.name] && places.has(hint.name) && lines >= hint.lines)?.name ?? null;
}
