// @ts-check
/** The timeline as it grows: the twin of `views/timeline.py`. */

/**
 * @typedef {{events: number, width: number, bins: {[graph: string]: number}[], marks: [number, string][]}} Timeline
 */

const binsMax = 2048;
const marksMax = 2048;
const marked = new Set(["world", "visitor", "judge", "merge", "split", "run", "error"]);

/** @returns {Timeline} */
export const emptyTimeline = () => ({ events: 0, width: 1, bins: [], marks: [] });

/**
 * The timeline after one more event. Its bins and marks are changed in place: there may be thousands.
 * @param {Timeline} before
 * @param {import("page/apply").Record} record
 * @param {string} graph
 * @returns {Timeline}
 */
export function noted(before, record, graph) {
  if (record.k <= before.events) return before;
  let { width, bins } = before;
  while (Math.floor((record.k - 1) / width) >= binsMax) {
    width *= 2;
    bins = halved(bins);
  }
  const at = Math.floor((record.k - 1) / width);
  while (bins.length <= at) bins.push({});
  const tokens = record.row.tokens ?? 0;
  if (tokens) bins[at][graph] = (bins[at][graph] ?? 0) + tokens;
  let { marks } = before;
  if (marked.has(record.row.icon)) marks.push([record.k, record.row.icon]);
  if (marks.length > marksMax) marks = marks.filter((_, number) => number % 2 === 0);
  return { ...before, events: record.k, width, bins, marks };
}

/** @param {{[graph: string]: number}[]} bins */
function halved(bins) {
  const pairs = [];
  for (let at = 0; at < bins.length; at += 2) {
    const sum = { ...bins[at] };
    for (const [graph, tokens] of Object.entries(bins[at + 1] ?? {})) sum[graph] = (sum[graph] ?? 0) + tokens;
    pairs.push(sum);
  }
  return pairs;
}
