// @ts-check
/**
 * Which lines a phone shows: that of the creature somebody has chosen, else the newest; and what was said before it.
 *
 * Always holds: everything comes from the view at the moment shown and the records before it, so a page that looks back shows the
 * lines of that moment.
 */
import { addresseeOf } from "page/graph/bubble_lines";
import { graphName } from "page/graph/summary";
import { harmless } from "page/plain";
import { lastSpeaker } from "page/stage/cast";

/**
 * @typedef {import("page/apply").View} View
 * @typedef {import("page/apply").Record} Record
 * @typedef {{n: number, creature: string, text: string}} Said a line; `creature` is empty where a visitor disturbed the show
 */

/** Lines below the one that is read: more than fit on a screen, so that one can read on downwards; on a low page, which has the rest of the play below them, a few. */
export const earlierMax = { phone: 12, low: 4 };
/** How many records are searched for them; each costs one look into a list. */
const recordsSearchedMax = 600;

/** Whose line is read: who was chosen, else who spoke last. @param {View} view @param {{kind: string, id: string}|null} selection */
export const readOf = (view, selection) => (selection?.kind === "creature" && view.creatures[selection.id] ? selection.id : lastSpeaker(view.creatures));

/** What was said before event number `n`, the newest first. @param {View} view @param {number} n @param {(k: number) => Record|undefined} recordOf @param {number} most @returns {Said[]} */
export function saidBefore(view, n, recordOf, most) {
  /** @type {Said[]} */
  const said = [];
  for (let k = n - 1; k > 0 && k > n - recordsSearchedMax && said.length < most; k -= 1) {
    const record = recordOf(k);
    const text = harmless(record?.row.text ?? "");
    if (!record || !text || k === view.scene.n) continue; // The scene stands in its own place.
    const op = record.d.find(([what, path]) => what === "s" && path[0] === "creatures" && path[2] === "line");
    const creature = op ? String(op[1][1]) : "";
    if (creature && view.creatures[creature]) said.push({ n: k, creature, text });
    else if (record.row.icon === "visitor" && said[said.length - 1]?.text !== text) said.push({ n: k, creature: "", text });
  }
  return said;
}

/** Where a creature's last line was said, and to whom: "in moat, to Pond Skater". @param {View} view @param {string} id @param {(k: number) => Record|undefined} recordOf */
export function whereAndToWhom(view, id, recordOf) {
  const { graph } = view.creatures[id];
  const where = view.graphs[graph] ? `in ${graphName(view.graphs[graph])}` : "";
  const to = addresseeOf(view, id, recordOf);
  return to.startsWith("to ") ? [where, to].filter(Boolean).join(", ") : where || to;
}
