// @ts-check
/** Older events: they come a page at a time as one scrolls up. With a filter the server says which pages hold something. */
import { recordsPerPage } from "page/source";
import { loadPage, moment, session, source } from "page/store";

const searchHits = 200;

/** @type {Set<string>} */
const underWay = new Set();

/**
 * Bring the end of a gap: the part next to what is in sight.
 * @param {import("page/feed/index").FeedIndex} index
 * @param {{k: number, last: number}} gap
 */
export async function loadGap(index, gap) {
  const { run } = session.value;
  const { kind, creature, graph, channel, text } = index.filters;
  const mark = `${run} ${gap.last} ${JSON.stringify(index.filters)}`;
  if (underWay.has(mark)) return;
  underWay.add(mark);
  try {
    const isSparse = kind === "topology" || creature || graph || channel || text;
    if (!isSparse || source().kind === "file") {
      await loadPage(pageOf(gap.last));
      return;
    }
    const show = kind === "all" ? "" : kind;
    const matches = await source().events(run, { show, actor: creature, graph, channel, text, order: "newest", before: gap.last + 1, limit: searchHits });
    const hits = new Set(matches.events.map((/** @type {{k: number}} */ match) => pageOf(match.k)));
    const least = matches.next === null ? pageOf(gap.k) : pageOf(Math.min(gap.last, matches.events.at(-1)?.k ?? Number.parseInt(matches.next, 10)));
    for (let page = pageOf(gap.last); page >= least; page -= 1) if (!hits.has(page)) index.empty.add(page);
    moment.value += 1;
    if (hits.size) await loadPage(Math.max(.../** @type {Set<number>} */ (hits)));
  } catch {
    // The gap stays and says so; scrolling asks again.
    await new Promise((resolve) => setTimeout(resolve, 2000));
  } finally {
    underWay.delete(mark);
  }
}

/** @param {number} k */
const pageOf = (k) => Math.floor((k - 1) / recordsPerPage);
