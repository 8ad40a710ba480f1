// @ts-check
/**
 * What stands in the script: scenes and lines, and one mark for everything that happened between two of them.
 *
 * Always holds: a page of records is folded once and grows with its records, whatever is filtered; the items of a filter are made of
 * its entries, and grow with them. So a new event costs the same in a long story as in a short one.
 *
 * @typedef {import("page/script/fold").Entry} Entry
 * @typedef {import("page/script/fold").Line} Line
 * @typedef {import("page/script/marks").Fact} Fact
 * @typedef {{place: string, hasMarks: boolean, hasMinds: boolean}} Filter `place`: the name of a graph; empty for all
 * @typedef {{type: "line"|"scene", k: number, last: number, title: string, line: Line|null, facts: Fact[]}
 *   | {type: "mark", k: number, last: number, title: string, line: null, facts: Fact[]}} Item
 */
import { toWords } from "page/addressee";
import { foldFrom } from "page/script/fold";
import { recordsPerPage } from "page/source";
import { record, startOf } from "page/store";

/** The entries of one page of records. */
class PageEntries {
  /** @param {number} number @param {import("page/apply").View} start */
  constructor(number, start) {
    this.number = number;
    this.first = record(number * recordsPerPage + 1);
    this.fold = foldFrom(start);
    /** The last event that was taken in. */
    this.upto = number * recordsPerPage;
    /** @type {Entry[]} */
    this.entries = [];
    /** By the ids of their events. @type {Map<string, Line>} */
    this.lines = new Map();
  }

  /** @param {number} head */
  grow(head) {
    const end = Math.min(head, (this.number + 1) * recordsPerPage);
    for (let next = record(this.upto + 1); next && this.upto < end; next = record(this.upto + 1)) {
      const entry = this.fold.take(next);
      if (entry) this.entries.push(entry);
      if (entry?.line) this.lines.set(entry.line.id, entry.line);
      this.upto += 1;
    }
  }
}

/** @type {Map<number, PageEntries>} */
let pages = new Map();

/** Another run is open, or its events have other numbers. */
export function forgetEntries() {
  pages = new Map();
}

/** The entries of a page as far as its records are here; none while they are on their way. @param {number} number @param {number} head @returns {PageEntries|null} */
export function entriesOf(number, head) {
  const first = record(number * recordsPerPage + 1);
  const start = startOf(number);
  const end = Math.min(head, (number + 1) * recordsPerPage);
  if (!first || !start || !record(end)) {
    pages.delete(number);
    return null;
  }
  let page = pages.get(number);
  if (!page || page.first !== first) {
    page = new PageEntries(number, start);
    pages.set(number, page);
  }
  page.grow(head);
  return page;
}

/** The line of an event, if it is in what was folded. @param {string} id */
export function lineCalled(id) {
  for (const { lines } of id ? pages.values() : []) {
    const line = lines.get(id);
    if (line) return line;
  }
  return undefined;
}

/** Where and to whom a line was said: "in moat, to Pond Skater". @param {Line} line */
export function placeAndAddressee({ face, kind, place, answers, owing }) {
  const answered = lineCalled(answers);
  const author = answered?.kind === "visitor" ? "the visitor" : answered && answered.face !== face ? answered.name : "";
  if (kind === "visitor") return "disturbs the show";
  return [place ? `in ${place}` : "", toWords(answered?.face || answered?.kind === "visitor" ? author : "", owing)].filter(Boolean).join(", ");
}

/** Whether a filter lets an entry through. @param {Entry} entry @param {Filter} filter */
function isWanted({ title, line, fact }, { place, hasMarks, hasMinds }) {
  if (fact) return hasMarks && (!place || fact.places.includes(place));
  if (!line) return title !== "" && !place;
  if (line.isCopy && !place) return false; // Another graph has it already.
  return (line.kind !== "thought" || hasMinds) && (!place || line.place === place);
}

/** The items of some entries, which grow. */
export class Items {
  /** @param {Filter} filter @param {number} from the event before the first one */
  constructor(filter, from) {
    this.filter = filter;
    /** @type {Item[]} */
    this.items = [];
    this.taken = 0;
    /** The event of the last line; a mark begins after it. */
    this.lineBefore = from;
  }

  /** Take in what has come. Returns from which item on something is new. @param {Entry[]} entries */
  grow(entries) {
    let changed = this.items.length;
    for (; this.taken < entries.length; this.taken += 1) {
      const entry = entries[this.taken];
      if (!isWanted(entry, this.filter)) continue;
      const last = this.items.at(-1);
      if (entry.fact && last?.type === "mark") {
        this.items[this.items.length - 1] = { ...last, last: entry.k, facts: [...last.facts, entry.fact] };
        changed = Math.min(changed, this.items.length - 1);
      } else if (entry.fact) this.items.push({ type: "mark", k: this.filter.place ? entry.k : this.lineBefore + 1, last: entry.k, title: "", line: null, facts: [entry.fact] });
      else this.addLine(entry, last);
      if (!entry.fact) this.lineBefore = entry.k;
    }
    return changed;
  }

  /** @param {Entry} entry @param {Item|undefined} last */
  addLine(entry, last) {
    const { k, title, line } = entry;
    // What led up to a line belongs to the mark before it.
    if (last?.type === "mark" && !this.filter.place) this.items[this.items.length - 1] = { ...last, last: k - 1 };
    const isScene = title !== "" || (line?.kind === "world" && !line.face);
    this.items.push({ type: isScene ? "scene" : "line", k, last: k, title, line, facts: [] });
  }
}

/** A mark up to a moment; nothing if none of it had happened. @param {Item} item @param {number} k @returns {Item|null} */
export function upTo(item, k) {
  if (item.type !== "mark" || item.last <= k) return item;
  const facts = item.facts.filter((fact) => fact.k <= k);
  return facts.length ? { ...item, last: k, facts } : null;
}
