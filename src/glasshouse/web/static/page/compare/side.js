// @ts-check
/** One of two runs that are compared: its records behind what they share, and its view at any of them. */
import { apply, cloneView } from "page/apply";
import { recordsPerPage } from "page/source";
import { session, source } from "page/store";

/**
 * @typedef {import("page/apply").View} View
 * @typedef {import("page/apply").Record} Record
 * @typedef {{run: string, from: number, head: View, records: Record[], start: View, isCut: boolean, frames: Map<number, View>}} Side
 */

const pagesMax = 5;
const eventsBetweenFrames = 100;

/**
 * @param {string} run
 * @param {string|null} sharedEvent the last event that the two share
 * @returns {Promise<Side>}
 */
export async function loadSide(run, sharedEvent) {
  const reading = source();
  const [head, from] = await Promise.all([reading.view(run), sharedEvent ? reading.about(run, sharedEvent, "number").then((/** @type {any} */ answer) => answer.k) : 0]);
  const kept = { role: session.value.role, story: Object.keys(head.runs).sort().join(" ") };
  const firstPage = Math.floor(Math.max(0, from - 1) / recordsPerPage);
  const lastPage = Math.min(Math.floor(Math.max(0, head.k - 1) / recordsPerPage), firstPage + pagesMax - 1);
  const numbers = Array.from({ length: lastPage - firstPage + 1 }, (_, number) => firstPage + number);
  const [start, ...pages] = await Promise.all([reading.view(run, firstPage * recordsPerPage), ...numbers.map((number) => reading.records(run, number, kept))]);
  const records = pages.flat();
  return { run, from, head, records, start, isCut: (records.at(-1)?.k ?? 0) < head.k, frames: new Map() };
}

/** What happened behind the shared past. @param {Side} side */
export const ownRecords = (side) => side.records.filter((record) => record.k > side.from);

/** The view of a side right after an event. @param {Side} side @param {number} k @returns {View} */
export function viewOf(side, k) {
  const first = side.start.k;
  const wanted = Math.max(first, Math.min(k, side.records.at(-1)?.k ?? first));
  let frame = wanted - ((wanted - first) % eventsBetweenFrames);
  while (frame > first && !side.frames.has(frame)) frame -= eventsBetweenFrames;
  const view = cloneView(frame > first ? /** @type {View} */ (side.frames.get(frame)) : side.start);
  while (view.k < wanted) {
    apply(view, side.records[view.k - first]);
    if ((view.k - first) % eventsBetweenFrames === 0) side.frames.set(view.k, cloneView(view));
  }
  return view;
}
