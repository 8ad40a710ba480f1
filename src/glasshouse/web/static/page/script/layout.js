// @ts-check
/**
 * Where each item of the script stands. Heights are estimated until a row was drawn, and measured from then on.
 *
 * Always holds: to find what is in sight costs a look at each page and a search in one; a height that changes costs its page alone.
 *
 * @typedef {import("page/script/items").Item} Item
 * @typedef {{item: Item|null, from: number, to: number, top: number, height: number, at: number}} Row without an item: events `from` to `to` are on their way
 */
import { entriesOf, Items, upTo } from "page/script/items";
import { recordsPerPage } from "page/source";

export const gapHeight = 56;
/** As `script.css` has it, in pixels. */
const sizes = { text: 23, head: 19, padding: 13, mark: 24, title: 27, scene: 22, character: 7.4, charactersMax: 62, columns: 124 };

/** How high an item probably is in a width. @param {Item} item @param {number} width */
export function estimated({ type, line, title }, width) {
  if (type === "mark") return sizes.mark;
  const characters = Math.max(16, Math.min(sizes.charactersMax, (width - sizes.columns) / sizes.character));
  const rows = (line?.text ?? "").split("\n").reduce((sum, part) => sum + Math.max(1, Math.ceil(part.length / characters)), 0);
  if (type === "scene") return sizes.padding + (title ? sizes.title : 0) + rows * sizes.scene;
  return sizes.padding + sizes.head + rows * sizes.text;
}

/** The items of one page of records, with their heights. */
class PageLayout {
  /** @param {number} number @param {import("page/script/items").Filter} filter */
  constructor(number, filter) {
    this.items = new Items(filter, number * recordsPerPage);
    /** @type {number[]} */
    this.heights = [];
    /** @type {number[]} */
    this.tops = [0];
    /** From which item on the tops are out of date. */
    this.staleFrom = 0;
    this.width = 0;
    this.source = /** @type {object|null} */ (null);
  }

  /** @param {import("page/script/fold").Entry[]} entries @param {number} width */
  grow(entries, width) {
    let from = this.items.grow(entries);
    if (this.width !== width) from = 0;
    this.width = width;
    const all = this.items.items;
    for (let at = from; at < all.length; at += 1) {
      // A mark that grows stays one row.
      if (at < this.heights.length && from !== 0) continue;
      this.heights[at] = estimated(all[at], width);
    }
    this.staleFrom = Math.min(this.staleFrom, from);
  }

  /** Where an item begins; with the number of items, how high all are. @param {number} at */
  top(at) {
    for (let next = this.staleFrom; next < this.heights.length; next += 1) this.tops[next + 1] = this.tops[next] + this.heights[next];
    this.staleFrom = this.heights.length;
    return this.tops[at];
  }

  /** @param {number} at @param {number} height */
  measure(at, height) {
    if (this.heights[at] === height) return false;
    this.heights[at] = height;
    this.staleFrom = Math.min(this.staleFrom, at);
    return true;
  }
}

/** The script for one filter. */
export class Script {
  /** @param {import("page/script/items").Filter} filter */
  constructor(filter) {
    this.filter = filter;
    /** @type {Map<number, PageLayout>} */
    this.pages = new Map();
  }

  /** @param {number} number @param {number} head @param {number} width @returns {PageLayout|null} */
  page(number, head, width) {
    const source = entriesOf(number, head);
    if (!source) {
      this.pages.delete(number);
      return null;
    }
    let page = this.pages.get(number);
    if (!page || page.source !== source) {
      page = new PageLayout(number, this.filter);
      page.source = source;
      this.pages.set(number, page);
    }
    page.grow(source.entries, width);
    return page;
  }
}

/** @typedef {{page: PageLayout|null, from: number, to: number, skipped: number, count: number, at: number, top: number, height: number, joined: Item|null}} Part
 *   `skipped`: how many of its items belong to the part before; `joined`: the last item together with the first one of the part after */

/**
 * The rows up to a moment: a list that is never written down. Its parts are pages, and gaps where none is loaded.
 * @param {Script} script @param {{shown: number, head: number, width: number}} now
 */
export function layoutOf(script, { shown, head, width }) {
  /** @type {Part[]} */
  const parts = [];
  let at = 0;
  let top = 0;
  /** @param {Part} part */
  const add = (part) => {
    parts.push(part);
    at += part.count;
    top += part.height;
  };
  for (let number = 0; number * recordsPerPage < shown; number += 1) {
    const [from, to] = [number * recordsPerPage + 1, Math.min(shown, (number + 1) * recordsPerPage)];
    const page = script.page(number, head, width);
    const before = parts.at(-1);
    if (!page && before && !before.page) before.to = to;
    else if (!page) add({ page, from, to, skipped: 0, count: 1, at, top, height: gapHeight, joined: null });
    else {
      const items = page.items.items;
      let end = countUpto(items, to);
      if (end && !upTo(items[end - 1], to)) end -= 1;
      const skipped = end && before ? join(before, items[0], to) : 0;
      if (end > skipped) add({ page, from, to, skipped, count: end - skipped, at, top, height: page.top(end) - page.top(skipped), joined: null });
    }
  }

  /** @param {number} position @returns {Row} */
  const row = (position) => {
    const part = parts[lastWhere(parts.length, (index) => parts[index].at <= position)];
    if (!part.page) return { item: null, from: part.from, to: part.to, top: part.top, height: gapHeight, at: position };
    const within = position - part.at + part.skipped;
    const item = position === part.at + part.count - 1 ? (part.joined ?? upTo(part.page.items.items[within], part.to)) : part.page.items.items[within];
    const start = part.page.top(within);
    return { item, from: part.from, to: part.to, top: part.top + start - part.page.top(part.skipped), height: part.page.top(within + 1) - start, at: position };
  };
  return {
    count: at,
    height: top,
    row,
    /** The row at a height. @param {number} y */
    rowAt: (y) => Math.max(0, lastWhere(at, (position) => row(position).top <= y)),
    /** Where the item that begins with an event stands; -1 if there is none. @param {number} k */
    position(k) {
      const part = parts.find((candidate) => candidate.page && candidate.from <= k && k <= candidate.to);
      if (!part?.page) return -1;
      const within = countUpto(part.page.items.items, k) - 1;
      const isIn = within >= part.skipped && within < part.skipped + part.count;
      return isIn && part.page.items.items[within].k === k ? part.at + within - part.skipped : -1;
    },
    /** Note how high a row is. Returns whether that is another height. @param {number} position @param {number} height */
    measure(position, height) {
      const part = parts[lastWhere(parts.length, (index) => parts[index].at <= position)];
      return part?.page ? part.page.measure(position - part.at + part.skipped, height) : false;
    },
  };
}

/** @typedef {ReturnType<typeof layoutOf>} Layout */

/** Have two marks at the end of one page and the beginning of the next stand as one; returns how many items of the next are told by that. @param {Part} before @param {Item} first @param {number} to */
function join(before, first, to) {
  if (!before.page || first.type !== "mark") return 0;
  const last = before.joined ?? before.page.items.items[before.skipped + before.count - 1];
  const more = upTo(first, to);
  if (last?.type !== "mark" || !more) return 0;
  before.joined = { ...last, last: more.last, facts: [...last.facts, ...more.facts] };
  return 1;
}

/** How many items begin at an event or before it. @param {Item[]} items @param {number} k */
const countUpto = (items, k) => lastWhere(items.length, (at) => items[at].k <= k) + 1;

/** The last index for which something holds that holds up to some index; -1 if for none. @param {number} count @param {(index: number) => boolean} holds */
function lastWhere(count, holds) {
  let low = -1;
  let high = count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
