// @ts-check
/**
 * How high the cards of the cast are, and which rows of them are in sight.
 *
 * @typedef {"row"|"card"|"open"} Kind a row has a name alone, a card two lines of text, an open card its whole text
 * @typedef {{top: number, bottom: number}} Row
 */

/** Up to so many creatures all have cards; of more, those who do not speak are rows. */
const cardsMax = 6;
const heights = { row: 33, card: 90 };
/** What an open card is thought to need until it has been in the page. */
const openPixels = 150;

/** What kind of card a creature has. A row has no back, so who is turned has a card. @param {{isOpen: boolean, isTurned: boolean, creatures: number}} of @returns {Kind} */
export function cardKind({ isOpen, isTurned, creatures }) {
  if (isOpen) return "open";
  return creatures > cardsMax && !isTurned ? "row" : "card";
}

/**
 * Where each row of cards begins and ends. A row is as high as its highest card.
 * @param {string[]} cast @param {Kind[]} kinds @param {number} columns @param {Map<string, number>} measured heights of open cards
 * @returns {Row[]}
 */
export function rowsOf(cast, kinds, columns, measured) {
  /** @type {Row[]} */
  const rows = [];
  let top = 0;
  for (let at = 0; at < cast.length; at += columns) {
    let height = 0;
    for (let next = at; next < Math.min(cast.length, at + columns); next += 1) {
      const kind = kinds[next];
      height = Math.max(height, kind === "open" ? (measured.get(cast[next]) ?? openPixels) : heights[kind]);
    }
    rows.push({ top, bottom: top + height });
    top += height;
  }
  return rows;
}

/** The rows that are in sight, and some around them. @param {Row[]} rows @param {{top: number, height: number}} sight @param {number} around */
export function rowsInSight(rows, { top, height }, around) {
  let first = rows.findIndex(({ bottom }) => bottom > top);
  if (first < 0) first = Math.max(0, rows.length - 1);
  let end = first;
  while (end < rows.length && rows[end].top < top + height) end += 1;
  return { first: Math.max(0, first - around), end: Math.min(rows.length, end + around) };
}
