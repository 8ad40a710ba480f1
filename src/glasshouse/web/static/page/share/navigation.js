// @ts-check
/** The run that a shared file shows, and how one moves in it: from line to line, and to any moment. */
import { computed, signal } from "@preact/signals";
import { copy } from "page/copying";
import { seek, shown } from "page/store";

/** @typedef {{packed: import("page/share/file_source").Packed, story: ReturnType<typeof import("page/share/lines").read>, json: string}} Shared */

export const current = signal(/** @type {Shared|null} */ (null));
/** The line to bring into sight when the page is drawn next; 0 for none. */
export const wanted = signal(0);

/** The line of the moment shown: the last one up to it. */
export const lineNow = computed(() => {
  const lines = current.value?.story.lines ?? [];
  return lines[placeUpTo(lines, shown.value)];
});

/** The place of the last line up to an event, or -1. @param {{k: number}[]} lines @param {number} k */
function placeUpTo(lines, k) {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (lines[middle].k <= k) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The line that is event number `k`, if it is one. @param {number|undefined} k */
export function lineAt(k) {
  const lines = current.value?.story.lines ?? [];
  const line = k === undefined ? undefined : lines[placeUpTo(lines, k)];
  return line?.k === k ? line : undefined;
}

/** Show a moment and bring its line into sight. @param {number} k */
export async function goTo(k) {
  await seek(k);
  wanted.value = lineNow.value?.k ?? 0;
}

/** Go to the next or the previous line. @param {1|-1} direction */
export function stepLine(direction) {
  const lines = current.value?.story.lines ?? [];
  const at = placeUpTo(lines, shown.value);
  const next = direction < 0 && lines[at]?.k < shown.value ? lines[at] : lines[at + direction];
  if (next) void goTo(next.k);
}

/** Whether the page stands in a frame, such as a notebook's, where it has no address and may keep nothing. */
export const isFramed = globalThis.parent !== globalThis.self;

/** Copy the link to the moment shown. */
export function copyLink() {
  const k = shown.value;
  void copy(`${location.href.replace(/#.*$/, "")}#${k}`, `The link to ${k} is copied.`);
}
