// @ts-check
/**
 * Which lines stand as bubbles over the graph, and to whom each was said. Everything comes from the view at the moment shown and the
 * records before it, so a page that looks back shows the bubbles of that moment.
 *
 * Always holds: the first bubble is the newest line; a creature has one bubble at most.
 */
import { owedBy, toWords } from "page/addressee";
import { graphName, titleOf } from "page/graph/summary";
import { harmless } from "page/plain";

/**
 * @typedef {import("page/apply").View} View
 * @typedef {import("page/apply").Record} Record
 * @typedef {{key: string, creature: string, name: string, to: string, n: number, text: string, colour: number}} Bubble
 */

/** Older bubbles at most, by how many creatures there are: a crowd leaves less room. */
const olderMax = 3;
const olderOfManyMax = 1;
const manyCreatures = 20;
const crowd = 150;
/** A line leaves when so many newer ones were said. */
const newerLinesMax = 4;
/** How many records before a line are searched for what it answers and for the lines before it; each costs one look into a list. */
const recordsSearchedMax = 400;

/** The bubbles of a view, the newest first. @param {View} view @param {(k: number) => Record|undefined} recordOf @returns {Bubble[]} */
export function bubblesOf(view, recordOf) {
  const spoken = Object.entries(view.creatures).filter(([, { line }]) => line?.text);
  spoken.sort(([, a], [, b]) => lineNumber(b) - lineNumber(a));
  if (!spoken.length) return [];
  const oldest = oldestShown(lineNumber(spoken[0][1]), recordOf);
  const recent = spoken.filter(([, creature]) => lineNumber(creature) >= oldest);
  return recent.slice(0, 1 + olderFor(Object.keys(view.creatures).length)).map(([id, creature]) => {
    const line = /** @type {import("page/apply").Line} */ (creature.line);
    return {
      key: `${id} ${line.n}`,
      creature: id,
      name: titleOf(creature),
      to: addresseeOf(view, id, recordOf),
      n: line.n,
      text: harmless(line.text),
      colour: view.graphs[creature.graph]?.colour ?? 0,
    };
  });
}

/** @param {import("page/apply").Creature} creature */
const lineNumber = ({ line }) => line?.n ?? 0;

/** How many older bubbles a picture of so many creatures has room for. @param {number} creatures */
export const olderFor = (creatures) => (creatures > crowd ? 0 : creatures > manyCreatures ? olderOfManyMax : olderMax);

/** The number of the oldest line that may still stand beside the newest. @param {number} newest @param {(k: number) => Record|undefined} recordOf */
function oldestShown(newest, recordOf) {
  let newer = 0;
  for (let k = newest; k > 0 && k > newest - recordsSearchedMax; k -= 1) {
    const record = recordOf(k);
    if (!record?.d.some(([what, path]) => what === "s" && path[0] === "creatures" && path[2] === "line")) continue;
    newer += 1;
    if (newer > newerLinesMax) return k;
  }
  return 0;
}

/**
 * To whom a creature's last line was said: "to" the author of the line that it answers, else "to" those who owe it an answer, else
 * "in" its place.
 * @param {View} view @param {string} id @param {(k: number) => Record|undefined} recordOf
 */
export function addresseeOf(view, id, recordOf) {
  const { line, graph } = view.creatures[id];
  if (!line) return "";
  const answered = line.answers ? authorOf(line.answers, line.n, recordOf) : undefined;
  const author = answered === undefined ? undefined : Object.entries(view.creatures).find(([other, { handle }]) => other === answered || handle === answered);
  const record = recordOf(line.n);
  const owing = (record ? owedBy(record, id) : []).map((other) => view.creatures[other]).filter((creature) => creature?.owes);
  const to = toWords(author && author[0] !== id ? titleOf(author[1]) : answered === "visitor" ? "the visitor" : "", owing.map(titleOf));
  return to || (view.graphs[graph] ? `in ${graphName(view.graphs[graph])}` : "");
}

/** Who said the line with an id, if it is one of those before event number `n`. @param {string} eventId @param {number} n @param {(k: number) => Record|undefined} recordOf */
function authorOf(eventId, n, recordOf) {
  for (let k = n - 1; k > 0 && k > n - recordsSearchedMax; k -= 1) {
    const record = recordOf(k);
    if (record?.id === eventId) return record.row.actor;
  }
  return undefined;
}
