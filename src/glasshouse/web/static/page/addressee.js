// @ts-check
/**
 * To whom a line was said: the author of the line that it answers, else those who owe it an answer, else nobody but its place.
 * The bubbles, the cards and the script ask here, so they say the same.
 *
 * @typedef {import("page/apply").Record} Record
 */

const namesMax = 2;

/** "Gate Cat", "Gate Cat and Twig Wren", "Gate Cat, Twig Wren and 2 more". @param {string[]} names @param {number} [most] how many are named */
export function listed(names, most = namesMax) {
  if (names.length > most) return `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}` : (names[0] ?? "");
}

/**
 * The ids of those who owe a line an answer: its record says so. What a speaker still owes to others is not meant.
 * @param {Record} record @param {string} speaker
 * @returns {string[]}
 */
export function owedBy(record, speaker) {
  return record.d.filter(([what, path]) => what === "s" && path[0] === "creatures" && path[2] === "owes" && path[1] !== speaker).map(([, path]) => path[1]);
}

/** "to Gate Cat"; nothing where a line answers nobody and nobody owes it an answer. @param {string} author of the line that is answered @param {string[]} owing names */
export function toWords(author, owing) {
  if (author) return `to ${author}`;
  return owing.length ? `to ${listed(owing)}` : "";
}
