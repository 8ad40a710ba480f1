// @ts-check
/**
 * Ranking: which entries a text means, the likeliest first. Pure: values in, values out.
 *
 * Always holds: every word of the text is in an entry that is listed. A name counts before other words, a whole name before its
 * beginning, a beginning before a middle; of equals, what can be done comes before who there is, and that before what was said.
 *
 * @typedef {"command"|"setting"|"creature"|"world"|"run"|"line"} Kind
 * @typedef {{id: string, kind: Kind, name: string, words?: string, hint?: string, key?: string, run: () => void}} Entry
 */

/** In which order kinds stand where nothing else decides. @type {Kind[]} */
export const kinds = ["command", "setting", "creature", "world", "run", "line"];
const shownMax = 40;
const ofKindMax = 10;
/** How good a match is; less is better. */
const ranks = { whole: 0, start: 1, word: 2, within: 3, otherWord: 5, otherWithin: 6, none: Infinity };

/** @param {string} text */
const plain = (text) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");

/** How well a word fits a text: it begins a word of it, or stands within it. @param {string} word @param {string} text @param {number} beginning @param {number} within */
function fit(word, text, beginning, within) {
  const at = text.indexOf(word);
  if (at < 0) return ranks.none;
  for (let from = at; from >= 0; from = text.indexOf(word, from + 1)) if (from === 0 || !/[\p{L}\p{N}]/u.test(text[from - 1])) return beginning;
  return within;
}

/**
 * How well an entry fits what was typed; Infinity: not at all.
 * @param {string} typed
 * @param {Entry} entry
 */
export function rankOf(typed, entry) {
  const text = plain(typed).trim().replace(/\s+/g, " ");
  if (!text) return 0;
  // What was said is no name: it is found by its words, after everything that is called something.
  const isSaid = entry.kind === "line";
  const name = isSaid ? "" : plain(entry.name);
  const others = plain(isSaid ? `${entry.name} ${entry.words ?? ""}` : entry.words ?? "");
  if (name === text) return ranks.whole;
  if (name.startsWith(text)) return ranks.start;
  let rank = 0;
  for (const word of text.split(" ")) {
    const own = fit(word, name, ranks.word, ranks.within);
    rank = Math.max(rank, own < ranks.none ? own : fit(word, others, ranks.otherWord, ranks.otherWithin));
  }
  return rank;
}

/**
 * The entries that a text means, the likeliest first.
 * @param {string} typed
 * @param {Entry[]} entries of one kind in the order in which they are offered
 * @returns {Entry[]}
 */
export function ranked(typed, entries) {
  const isEmpty = !typed.trim();
  const scored = entries
    .map((entry, place) => ({ entry, place, rank: rankOf(typed, entry), kind: kinds.indexOf(entry.kind) }))
    .filter(({ rank }) => rank < ranks.none);
  // Without a text the order is the one that is offered; the length of a name says nothing then.
  scored.sort((a, b) => a.rank - b.rank || a.kind - b.kind || (isEmpty || a.entry.kind === "line" ? 0 : a.entry.name.length - b.entry.name.length) || a.place - b.place);
  /** @type {Map<Kind, number>} */
  const counts = new Map();
  const kept = scored.filter(({ entry: { kind } }) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return isEmpty ? kind === "command" || kind === "setting" || count <= 3 : kind === "command" || count <= ofKindMax;
  });
  return kept.slice(0, shownMax).map(({ entry }) => entry);
}
