// @ts-check
/** Texts of strangers: shown as they are, but for characters that would show something else than they say. */

/* Control characters, marks that turn the direction of text, and marks without width. The joiner stays: emoji need it. */
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const controlPictures = 0x2400;
const controlsMax = 0x20;

/** A text in which every character can be seen: a bell is ␇, and a mark that turns the direction is ⟨202E⟩. @param {string} text */
export function harmless(text) {
  return text.replace(unseen, (mark) => {
    const code = mark.charCodeAt(0);
    if (mark === "\r") return "";
    if (code < controlsMax) return String.fromCharCode(controlPictures + code);
    return `⟨${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** The start of a text, whole words in one line. @param {string} text @param {number} chars */
export const firstChars = (text, chars) => (text.length > chars ? `${text.slice(0, chars).trimEnd()}…` : text);
