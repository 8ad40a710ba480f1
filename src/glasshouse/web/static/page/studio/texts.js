// @ts-check
/** What the studio knows of texts, without drawing: which lines were changed, what a line consists of, and a name put in place of another. */

/**
 * @typedef {{path: string, line: number, column: number, field: string, text: string, wrong: string, instead: string}} Mistake
 * @typedef {{text: string, kind: ""|"key"|"note"|"wrong"}} Piece
 */

/** The numbers of the lines that differ from the other text: line by line if there are as many, else all between the same beginning and the same end. @param {string} text @param {string} saved */
export function changedLines(text, saved) {
  const [now, then] = [text.split("\n"), saved.split("\n")];
  const all = now.map((_, index) => index + 1);
  if (now.length === then.length) return new Set(all.filter((number) => now[number - 1] !== then[number - 1]));
  let from = 0;
  while (from < now.length && from < then.length && now[from] === then[from]) from += 1;
  let end = 0;
  while (end < now.length - from && end < then.length - from && now[now.length - 1 - end] === then[then.length - 1 - end]) end += 1;
  return new Set(all.slice(from, now.length - end));
}

/** A line in pieces: its key, its comment, the rest, and what is wrong in it. @param {string} line @param {Mistake[]} mistakes of this line @returns {Piece[]} */
export function piecesOf(line, mistakes) {
  const wrong = mistakes.map((mistake) => mistake.wrong).find((word) => word && line.includes(word));
  if (wrong) {
    const at = line.indexOf(wrong);
    return [...piecesOf(line.slice(0, at), []), { text: wrong, kind: "wrong" }, { text: line.slice(at + wrong.length), kind: "" }];
  }
  if (/^\s*#/.test(line)) return [{ text: line, kind: "note" }];
  const [, before = "", key = "", rest = line] = /^(\s*(?:- )?)([\w.-]+)(:(?:\s.*|)$)/.exec(line) ?? [];
  if (!key) return [{ text: line, kind: "" }];
  return [{ text: before, kind: "" }, { text: key, kind: "key" }, { text: rest, kind: "" }];
}

/** A text in which a misspelt name is the one that was meant. @param {string} text @param {Mistake} mistake */
export function corrected(text, { line, column, wrong, instead }) {
  const lines = text.split("\n");
  const row = lines[line - 1] ?? "";
  const at = row.indexOf(wrong, Math.max(0, column - 2));
  const place = at >= 0 ? at : row.indexOf(wrong);
  if (place < 0) return text;
  lines[line - 1] = row.slice(0, place) + instead + row.slice(place + wrong.length);
  return lines.join("\n");
}

/** The handle that a creature's file is about. @param {string} path */
export const creatureIn = (path) => (path.split("/").pop() ?? "").replace(/\.ya?ml$/, "");

/** "pocket-actor" is "Pocket Actor". @param {string} handle */
export const titled = (handle) => handle.replace(/[-_]/g, " ").replace(/\b\w/g, (letter) => letter.toUpperCase());

/** Where a line begins in a text. @param {string} text @param {number} line from 1 on */
export const offsetOf = (text, line) => text.split("\n").slice(0, line - 1).reduce((sum, row) => sum + row.length + 1, 0);
