// @ts-check
/** The words of the curtain. */

/**
 * @typedef {{event_id: string, creature: string, who: string, kind: string, text: string, graph: string, channel: string|null}} Said
 * @typedef {{fact: string, creature: string, who: string, text: string}} Revealed
 * @typedef {{creature: string, who: string, n: number, text: string, wants: string|null}} LastWord
 * @typedef {{what: "apart"|"together"|"unsaid"|"disturbed", at: string, drop: boolean, disturb: string|null, who: string}} TurningPoint
 * @typedef {{run_id: string, role: string, world: string, outcome: string, turns: number, lines: number, verdict: Said|null, why: string|null, rests_on: Said[],
 *   last_line: Said|null, revealed: Revealed[], last_words: LastWord[], creatures_count: number, has_sealed: boolean, what_ifs: TurningPoint[]}} Curtain
 */

const small = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/** "1 turn", "16 turns". @param {number} count @param {string} noun */
const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** @param {{turns: number, lines: number}} told */
export const endWords = ({ turns, lines }) => `The end, after ${counted(turns, "turn")} and ${counted(lines, "line")}`;

/** @param {number} lines */
export const restsWords = (lines) => `It rests on ${small[lines] ?? lines} ${lines === 1 ? "line" : "lines"}`;

/** What a creature wants, as its sheet says, in the first sentence of that. @param {string} wants */
export function wantsWords(wants) {
  const sentence = /^.+?[.!?](?=\s|$)/s.exec(wants)?.[0] ?? wants;
  const bare = sentence.replace(/\.$/, "");
  return bare.startsWith("To ") ? `wanted to ${bare.slice(3)}` : `wanted: ${bare}`;
}

/**
 * A branch that is ready to be made: its name, and what it is.
 * @param {TurningPoint} point @param {string} name of whoever does not act @param {number} k the number of the event it is made at; 0 while that is not known
 * @param {number} cited how many lines the verdict cites
 * @returns {{icon: string, title: string, hint: string}}
 */
export function pointWords(point, name, k, cited) {
  const number = k ? k - (point.drop ? 1 : 0) : 0;
  const at = number ? `Branch at ${number}, ` : "Branch ";
  const withheld = point.drop ? " The call is not made." : "";
  switch (point.what) {
    case "apart":
      return { icon: "merge", title: name ? `${name} brings nobody together` : "The graphs stay apart", hint: `${at}before two graphs became one.${withheld}` };
    case "together":
      return { icon: "split", title: name ? `${name} parts nobody` : "The graph stays whole", hint: `${at}before the graph split in two.${withheld}` };
    case "unsaid":
      return { icon: "silence", title: `${name} does not say it`, hint: `${at}before the ${cited > 1 ? "newest " : ""}line that the verdict rests on.` };
    default:
      return { icon: "bolt", title: point.disturb ?? "", hint: `${at}as the last scene opens. A disturbance of this world.` };
  }
}
