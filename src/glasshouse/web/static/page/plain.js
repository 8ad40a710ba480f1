// @ts-check
/** Texts of strangers: shown as they are, but for characters that would show something else than they say. */

/* Control characters, marks that turn the direction of text, and marks without width. The joiner stays: emoji need it. */
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** A text in which every character can be seen: a bell is ⟨0007⟩, a mark that turns the direction ⟨202E⟩. @param {string} text */
export const harmless = (text) => text.replace(unseen, (mark) => (mark === "\r" ? "" : `⟨${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`));

/** The start of a text, whole words in one line. @param {string} text @param {number} chars */
export const firstChars = (text, chars) => (text.length > chars ? `${text.slice(0, chars).trimEnd()}…` : text);
