// @ts-check
/**
 * Which rows the feed has, and where each stands: an index for every page of records.
 *
 * Always holds: the index of a page is made once for a filter and grows with the page; to find a row is a binary search. So
 * neither a new event nor a jump costs more when the story is long.
 */
import { effect } from "@preact/signals";
import { graphOf, sessionOf } from "page/apply";
import { hasFingers } from "page/form";
import { noteHandles } from "page/feed/handles";
import { isOfKind } from "page/feed/kinds";
import { recordsPerPage } from "page/source";
import { headView, record } from "page/store";

/** @typedef {import("page/apply").Record} Record */
/** @typedef {{kind: string, creature: string, graph: string, channel: string, text: string}} Filters */
/** @typedef {"row"|"compact"|"turn"|"fold"|"gap"} ItemType */
/** @typedef {{type: ItemType, k: number, last: number, top: number, height: number, at: number}} Item */

/** @typedef {{[type in ItemType]: number}} Heights */

/** @type {{mouse: Heights, finger: Heights}} */
const heightsFor = {
  mouse: { row: 56, compact: 30, turn: 26, fold: 32, gap: 56 },
  finger: { row: 60, compact: 44, turn: 26, fold: 45, gap: 60 },
};
/** The heights of rows, as the style sheets have them. */
export let heights = heightsFor.mouse;
/** What is done behind the scenes: two and more of it in a row are folded. */
const backstageIcons = new Set(["session", "tool"]);
/** What a group tool does step by step: its answer tells all of it in a sentence. */
const deedIcons = new Set(["session", "creature", "channel", "wire"]);
/** A group tool that changes nothing. */
const looksRound = "looks round";
/** Rows that say little: they take one line. */
const compactIcons = new Set(["silence", "tool", "session"]);
/** What is done before a session's first scene: it is folded, so that the feed reads like a play. */
const setupIcons = new Set(["session", "creature", "channel", "wire"]);
/** Who says or shows something in several graphs at once. */
const saidInSeveral = new Set(["visitor", "world"]);
const plainFilters = { kind: "all", creature: "", graph: "", channel: "", text: "" };
const filtersKept = 6;

/** Who joined or left which channel, whether to listen or to speak. @param {Record} record */
const edgeOf = ({ row: { text = "" } }) => (/ (listens|speaks) on #/.test(text) ? text.replace(/ (listens|speaks) on #/, " #") : "");

/** The index of one page for one filter. */
class PageIndex {
  /** @param {number} number */
  constructor(number) {
    this.number = number;
    this.first = record(number * recordsPerPage + 1);
    /** The last event that was taken in. */
    this.upto = number * recordsPerPage;
    /** @type {ItemType[]} */
    this.types = [];
    /** @type {number[]} */
    this.ks = [];
    /** @type {number[]} */
    this.lasts = [];
    /** @type {number[]} */
    this.tops = [];
    this.height = 0;
    this.rows = 0;
    /** The number of the last separator. */
    this.turn = -1;
    /** @type {Map<string, number>} */
    this.turns = new Map();
    /** @type {Set<string>} */
    this.begun = new Set();
    /** Who has called a group tool that has not answered yet. */
    this.deed = "";
    /** Where the fold stands that is being filled; -1: none. */
    this.fold = -1;
  }

  /** @param {ItemType} type @param {number} k */
  add(type, k) {
    this.types.push(type);
    this.ks.push(k);
    this.lasts.push(k);
    this.tops.push(this.height);
    this.height += heights[type];
  }
}

/** How the records of a story are listed for one filter. */
export class FeedIndex {
  /** @param {Filters} filters */
  constructor(filters) {
    this.filters = filters;
    this.words = filters.text.toLowerCase();
    this.isPlain = filters.kind === "all" && !filters.creature && !filters.graph && !filters.channel && !filters.text;
    /** @type {Map<number, PageIndex>} */
    this.pages = new Map();
    /** Folds that were opened, by their first event. @type {Set<number>} */
    this.opened = new Set();
    /** Pages that the server searched and found nothing in. @type {Set<number>} */
    this.empty = new Set();
  }

  /** The index of a page as far as its records are here. @param {number} number @param {number} head */
  page(number, head) {
    const start = number * recordsPerPage;
    const end = Math.min(head, start + recordsPerPage);
    let page = this.pages.get(number);
    if (!page || page.first !== record(start + 1)) {
      page = new PageIndex(number);
      this.pages.set(number, page);
    }
    for (let k = page.upto + 1; k <= end; k += 1) {
      const entry = record(k);
      if (!entry) continue;
      noteHandles(entry);
      this.take(page, entry);
    }
    page.upto = end;
    return page;
  }

  /** @param {Record} record */
  isWanted(record) {
    const { row } = record;
    const { kind, creature, graph, channel } = this.filters;
    // It was said or shown in several graphs at once: an earlier row shows it, unless one graph alone is looked at. The call of
    // a group tool is told by its answer.
    if (row.icon === "copy" && (!graph || !saidInSeveral.has(row.actor))) return false;
    if (kind !== "all" && !isOfKind(row.icon, kind)) return false;
    const view = headView();
    if (creature && row.actor !== creature && row.actor !== view?.creatures[creature]?.handle) return false;
    if (channel && row.channel !== channel) return false;
    if (graph && (!view || graphOf(view, record) !== graph)) return false;
    return !this.words || `${row.actor} ${row.text ?? ""}`.toLowerCase().includes(this.words);
  }

  /** @param {PageIndex} page @param {Record} entry */
  take(page, entry) {
    const { k, row } = entry;
    if (row.icon === "copy" && !saidInSeveral.has(row.actor)) page.deed = row.actor;
    if (row.icon === "turn" || !this.isWanted(entry)) return;
    page.rows += 1;
    const session = sessionOf(entry.id);
    const isSetup = row.turn === 0 && setupIcons.has(row.icon) && !page.begun.has(session);
    const isDeed = row.icon === "tool" && row.actor === page.deed;
    const isOfDeed = page.deed !== "" && deedIcons.has(row.icon);
    if (isDeed) page.deed = "";
    if (this.isPlain && (isSetup || isOfDeed || (backstageIcons.has(row.icon) && (!isDeed || row.text === looksRound)))) {
      this.fold(page, k);
      return;
    }
    page.fold = -1;
    if (this.isPlain && this.isSecondEdge(page, entry)) {
      page.lasts[page.lasts.length - 1] = k;
      return;
    }
    if (row.icon !== "run") page.begun.add(session);
    if (row.icon === "merge" || row.icon === "split") page.turns.clear();
    const graph = row.graph ?? session;
    if (row.turn > 0 && page.turns.get(graph) !== row.turn) {
      page.turns.set(graph, row.turn);
      // Graphs that keep step share one separator.
      if (page.turn !== row.turn) page.add("turn", k);
      page.turn = row.turn;
    }
    page.add(this.filters.kind !== "topology" && compactIcons.has(row.icon) ? "compact" : "row", k);
  }

  /** Whether a creature listens and now also speaks on a channel, or the other way round: one row tells both.
   * @param {PageIndex} page @param {Record} entry */
  isSecondEdge(page, entry) {
    const before = page.lasts[page.lasts.length - 1] === entry.k - 1 ? record(entry.k - 1) : undefined;
    return before?.row.icon === "channel" && entry.row.icon === "channel" && edgeOf(before) !== "" && edgeOf(before) === edgeOf(entry);
  }

  /** Take in a row that is folded if it is not alone. @param {PageIndex} page @param {number} k */
  fold(page, k) {
    const first = page.fold;
    if (first < 0) {
      page.fold = page.ks.length;
      page.add("compact", k);
      return;
    }
    const isOpened = this.opened.has(page.ks[first]);
    if (page.types[first] === "compact") {
      page.types[first] = "fold";
      page.height += heights.fold - heights.compact;
      if (isOpened) page.add("compact", page.ks[first]);
    }
    page.lasts[first] = k;
    if (isOpened) page.add("compact", k);
  }

  /** Open or close a fold. @param {number} k */
  toggle(k) {
    if (this.opened.has(k)) this.opened.delete(k);
    else this.opened.add(k);
    this.pages.delete(Math.floor((k - 1) / recordsPerPage));
  }
}

/** @type {Map<string, FeedIndex>} */
let indexes = new Map();

/** The index for a filter; those used last are kept. @param {Filters} filters */
export function indexFor(filters) {
  const key = JSON.stringify(filters);
  const index = indexes.get(key) ?? new FeedIndex({ ...plainFilters, ...filters });
  indexes.delete(key);
  indexes.set(key, index);
  if (indexes.size > filtersKept) indexes.delete(/** @type {string} */ (indexes.keys().next().value));
  return index;
}

/** Another run is open: forget everything. */
export function forgetIndexes() {
  indexes = new Map();
}

/** @typedef {{index: PageIndex|null, from: number, to: number, at: number, top: number, count: number, height: number}} Part */

/**
 * The rows up to a moment, as a list that is never written down: its parts are pages, and gaps where none is loaded.
 * @param {FeedIndex} index
 * @param {number} shown
 * @param {number} head
 * @param {Map<number, number>} extra by how much an opened row is higher
 */
export function layoutOf(index, shown, head, extra) {
  /** @type {Part[]} */
  const parts = [];
  let at = 0;
  let top = 0;
  let rows = 0;
  let hasGaps = false;
  const lastPage = Math.floor((shown - 1) / recordsPerPage);
  for (let number = 0; number <= lastPage; number += 1) {
    const start = number * recordsPerPage;
    const end = Math.min(head, start + recordsPerPage);
    const isHere = record(start + 1) !== undefined && record(end) !== undefined;
    if (!isHere) {
      if (index.empty.has(number)) continue;
      hasGaps = true;
      const before = parts[parts.length - 1];
      if (before && !before.index) before.to = end;
      else {
        parts.push({ index: null, from: start + 1, to: end, at, top, count: 1, height: heights.gap });
        at += 1;
        top += heights.gap;
      }
      continue;
    }
    const page = index.page(number, head);
    const isCut = shown < page.upto;
    const count = isCut ? countUpto(page.ks, shown) : page.ks.length;
    if (!count) continue;
    const height = isCut ? page.tops[count - 1] + heights[page.types[count - 1]] : page.height;
    parts.push({ index: page, from: start + 1, to: end, at, top, count, height });
    at += count;
    top += height;
    rows += isCut ? rowsUpto(index, page, shown) : page.rows;
  }
  const opened = [...extra].map(([k, more]) => ({ at: positionOf(parts, k), more })).filter((row) => row.at >= 0);
  opened.sort((a, b) => a.at - b.at);
  const height = top + opened.reduce((sum, row) => sum + row.more, 0);

  /** @param {number} position @returns {Item} */
  const item = (position) => {
    const part = parts[partAt(parts, position)];
    const within = position - part.at;
    let shift = 0;
    let more = 0;
    for (const row of opened) {
      if (row.at < position) shift += row.more;
      else if (row.at === position) more = row.more;
    }
    if (!part.index) return { type: "gap", k: part.from, last: part.to, top: part.top + shift, height: heights.gap, at: position };
    const type = part.index.types[within];
    return { type, k: part.index.ks[within], last: part.index.lasts[within], top: part.top + part.index.tops[within] + shift, height: heights[type] + more, at: position };
  };
  /** The item at a height. @param {number} y */
  const itemAt = (y) => {
    let low = 0;
    let high = at - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (item(middle).top <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  return { count: at, height, rows, hasGaps, parts, item, itemAt, position: (/** @type {number} */ k) => positionOf(parts, k) };
}

/** @typedef {ReturnType<typeof layoutOf>} Layout */

/** How many numbers of a sorted list are not above `most`. @param {number[]} sorted @param {number} most */
function countUpto(sorted, most) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= most) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {FeedIndex} index @param {PageIndex} page @param {number} shown */
function rowsUpto(index, page, shown) {
  if (index.isPlain) return shown - page.number * recordsPerPage;
  const count = countUpto(page.ks, shown);
  let rows = 0;
  for (let at = 0; at < count; at += 1) if (page.types[at] === "row" || page.types[at] === "compact") rows += 1;
  return rows;
}

/** @param {Part[]} parts @param {number} position */
function partAt(parts, position) {
  let low = 0;
  let high = parts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (parts[middle].at <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Where the row of an event stands; -1 if it has none. @param {Part[]} parts @param {number} k */
function positionOf(parts, k) {
  const part = parts.find((candidate) => candidate.index && candidate.from <= k && k <= candidate.to);
  if (!part?.index) return -1;
  const within = countUpto(part.index.ks, k) - 1;
  const isIt = within >= 0 && within < part.count && part.index.ks[within] === k && (part.index.types[within] === "row" || part.index.types[within] === "compact");
  return isIt ? part.at + within : -1;
}

// A finger needs higher rows. Indexes hold where each row stands, so they are made anew.
effect(() => {
  heights = hasFingers.value ? heightsFor.finger : heightsFor.mouse;
  forgetIndexes();
});
