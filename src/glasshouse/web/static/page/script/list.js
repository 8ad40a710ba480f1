// @ts-check
/**
 * The script as a list that scrolls. Only rows in sight are in the page; it follows the newest line until somebody scrolls up, and
 * then the row on top stays where it is, whatever comes in above or below.
 */
import { computed, signal } from "@preact/signals";
import { html, useEffect, useLayoutEffect, useRef, useState } from "page/html";
import { isAloud, say, spoken } from "page/script/aloud";
import { forgetEntries, placeAndAddressee } from "page/script/items";
import { layoutOf, Script } from "page/script/layout";
import { Row } from "page/script/row";
import { recordsPerPage } from "page/source";
import { canReadMinds, head, isReplaying, isRewound, loadPage, minds, moment, session, shown, startOf, status } from "page/store";
import { Button } from "page/ui";

/** @typedef {import("page/script/layout").Layout} Layout */

const overscanPixels = 320;
const nearEndPixels = 8;
/** A page that cannot be loaded is asked for again when so much time has passed. */
const retryMilliseconds = 2000;
/** After the newest line there is one mark; with minds, also what is thought. */
const rowsAfterNewestMax = 20;
/** Below the last row. */
const endPixels = 10;

/** Whether the newest line is kept in sight. */
export const isFollowing = signal(true);
const chosenPlace = signal({ run: "", name: "" });
/** The name of the graph whose lines are shown; empty for all. A graph that is split off again has the place it had. */
export const place = computed(() => (chosenPlace.value.run === session.value.run ? chosenPlace.value.name : ""));
/** Show the lines of one place, or of all. @param {string} name */
export const choosePlace = (name) => {
  chosenPlace.value = { run: session.value.run, name };
};
/** Whether what happened between lines is shown. */
export const hasMarks = signal(true);

/** @type {Set<number>} */
const underWay = new Set();
/** The run whose lines are kept. */
let foldedRun = "";

export function List() {
  moment.value;
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const [, setDrawn] = useState(0);
  const redraw = useRef(() => setDrawn((count) => count + 1)).current;
  const at = useRef(begin()).current;
  const script = scriptFor(at);
  const layout = layoutOf(script, { shown: shown.value, head: head.value, width: at.width });
  const newest = newestIn(layout);
  settle(at, layout, newest);
  const rows = inSight(layout, at);
  at.anchor = anchorIn(rows, at.top);
  const reachable = rows.filter(({ item, top }) => item && top < at.top + at.height);
  const active = reachable.some(({ item }) => item?.k === at.active) ? at.active : (reachable.at(-1)?.item?.k ?? -1);

  useLayoutEffect(() => {
    const scroller = box.current;
    if (!scroller) return;
    let isOther = false;
    for (const row of rows) {
      const element = row.item ? scroller.querySelector(`[data-k="${row.item.k}"]`) : null;
      if (element instanceof HTMLElement && element.offsetHeight) isOther = layout.measure(row.at, element.offsetHeight) || isOther;
    }
    if (isOther) return redraw();
    if (Math.abs(scroller.scrollTop - at.top) > 1) scroller.scrollTop = at.top;
    if (at.focus >= 0) /** @type {HTMLElement|null} */ (scroller.querySelector(`[data-k="${at.focus}"] .script-number`))?.focus({ preventScroll: true });
    at.focus = -1;
  });
  useEffect(() => {
    for (const row of rows) if (!row.item) void load(row.to);
    if (isFollowing.value !== at.isAtEnd) isFollowing.value = at.isAtEnd;
  });
  useEffect(() => watchSize(/** @type {HTMLElement} */ (box.current), at, redraw), []);
  useAloud(layout, newest);

  const onScroll = () => {
    const scroller = /** @type {HTMLElement} */ (box.current);
    if (Math.abs(scroller.scrollTop - at.top) <= 1) return; // It was not the reader who scrolled.
    at.top = scroller.scrollTop;
    at.anchor = null;
    at.isAtEnd = at.top + scroller.clientHeight >= scroller.scrollHeight - nearEndPixels;
    redraw();
  };
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    if (!(event.target instanceof Element) || !event.target.matches(".script-scroll, .script-scroll button")) return;
    const next = goalOf(event.key, layout, layout.position(active), at.height);
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    at.active = at.focus = /** @type {import("page/script/items").Item} */ (next.item).k;
    at.anchor = null;
    at.isAtEnd = next.at === layout.count - 1;
    if (next.top < at.top) at.top = next.top;
    else if (next.top + next.height > at.top + at.height) at.top = next.top + next.height - at.height;
    redraw();
  };
  /** @param {FocusEvent} event */
  const onFocusIn = (event) => {
    const row = event.target instanceof Element ? event.target.closest("[data-k]") : null;
    if (row instanceof HTMLElement) at.active = Number(row.dataset.k);
  };

  const end = rows.at(-1);
  const hasMinds = minds.value && canReadMinds();
  return html`<div class="script-scroll" ref=${box} role="log" aria-live=${isAloud.value ? "polite" : "off"} aria-label="Script" tabindex=${layout.count ? -1 : 0} onScroll=${onScroll} onKeyDown=${onKeyDown} onFocusIn=${onFocusIn}>
      <div class="script-rows" aria-live="off" style=${{ paddingTop: `${rows[0]?.top ?? 0}px`, paddingBottom: `${end ? Math.max(0, layout.height - end.top - end.height) + endPixels : 0}px` }}>
        ${rows.map(({ item, from, to, at: position }) => item
          ? html`<${Row} key=${`${item.type} ${item.k}`} item=${item} beside=${item.line ? placeAndAddressee(item.line) : ""} isNewest=${position === newest} isActive=${item.k === active} hasMinds=${hasMinds} />`
          : html`<p key=${`gap ${from}`} class="script-gap">Events ${from} to ${to} are on their way.</p>`)}
      </div>
      ${layout.count ? null : html`<${Nothing} />`}
      <p class="hidden">${spoken.value}</p>
    </div>
    ${at.isAtEnd || !layout.count ? null : html`<button type="button" class="script-jump" onClick=${() => ((at.isAtEnd = true), (at.settledFor = ""), redraw())}>${isRewound.value ? `Jump to ${shown.value}` : status.value === "finished" ? "Jump to the end" : "Jump to live"}</button>`}`;
}

/** What the list remembers between drawings. */
function begin() {
  return {
    run: "",
    key: "",
    script: /** @type {Script|null} */ (null),
    top: 0,
    height: 600,
    width: 640,
    isAtEnd: true,
    /** What the place was found for: while nothing else comes, a reader may scroll within a line that is higher than the list. */
    settledFor: "",
    /** The row that stays where it is when rows come in above it. */
    anchor: /** @type {{k: number, by: number}|null} */ (null),
    /** The row that the arrow keys start from, and the one that is to get the focus. */
    active: -1,
    focus: -1,
  };
}

/** @typedef {ReturnType<typeof begin>} Place */

/** The script of the run and the filter that are chosen. @param {Place} at @returns {Script} */
function scriptFor(at) {
  const { run } = session.value;
  if (at.run !== run) Object.assign(at, begin(), { run, height: at.height, width: at.width });
  if (foldedRun !== run) forgetEntries();
  foldedRun = run;
  const filter = { place: place.value, hasMarks: hasMarks.value, hasMinds: minds.value && canReadMinds() };
  const { script } = at;
  const isSame = script && Object.entries(filter).every(([name, value]) => script.filter[/** @type {keyof typeof filter} */ (name)] === value);
  const made = isSame ? script : new Script(filter);
  const key = `${place.value} ${!isRewound.value ? "live" : isReplaying.value ? "replayed" : shown.value}`;
  // Another place or another moment: its newest line is what one wants to see.
  if (at.key !== key) Object.assign(at, { key, isAtEnd: true, settledFor: "" });
  at.script = made;
  return made;
}

/** The row of the newest line or scene; -1 if nothing was said. @param {Layout} layout */
function newestIn(layout) {
  for (let position = layout.count - 1; position >= 0 && position > layout.count - rowsAfterNewestMax; position -= 1) {
    const { item } = layout.row(position);
    if (item && item.type !== "mark" && item.line?.kind !== "thought") return position;
  }
  return -1;
}

/** Find the part that is seen: the end while it is followed, else where the reader is. @param {Place} at @param {Layout} layout @param {number} newest */
function settle(at, layout, newest) {
  const position = at.anchor ? layout.position(at.anchor.k) : -1;
  if (!at.isAtEnd) {
    if (at.anchor && position >= 0) at.top = Math.max(0, layout.row(position).top + at.anchor.by);
    return;
  }
  const wanted = `${newest < 0 ? "" : layout.row(newest).item?.k} ${layout.height} ${at.height}`;
  if (at.settledFor === wanted) return;
  at.settledFor = wanted;
  at.top = Math.max(0, layout.height + endPixels - at.height);
  // A line that is higher than the list is read from its beginning.
  if (newest >= 0) at.top = Math.min(at.top, layout.row(newest).top);
}

/** @param {Layout} layout @param {Place} at */
function inSight(layout, { top, height }) {
  const rows = [];
  for (let position = layout.count ? layout.rowAt(top - overscanPixels) : 0; position < layout.count; position += 1) {
    const row = layout.row(position);
    if (row.top > top + height + overscanPixels) break;
    rows.push(row);
  }
  return rows;
}

/** @param {import("page/script/layout").Row[]} rows @param {number} top */
function anchorIn(rows, top) {
  const first = rows.find((row) => row.item && row.top + row.height > top);
  return first?.item ? { k: first.item.k, by: top - first.top } : null;
}

/** The row that a key leads to. @param {string} key @param {Layout} layout @param {number} here @param {number} height */
function goalOf(key, layout, here, height) {
  const from = here < 0 ? layout.count - 1 : here;
  if (from < 0) return undefined;
  const { top } = layout.row(from);
  const goals = /** @type {{[key: string]: () => number}} */ ({
    ArrowDown: () => from + 1,
    ArrowUp: () => from - 1,
    PageDown: () => Math.max(from + 1, layout.rowAt(top + height)),
    PageUp: () => Math.min(from - 1, layout.rowAt(Math.max(0, top - height))),
    Home: () => 0,
    End: () => layout.count - 1,
  });
  const goal = goals[key]?.();
  if (goal === undefined) return undefined;
  const by = goal < from ? -1 : 1;
  for (let position = Math.max(0, Math.min(layout.count - 1, goal)); position >= 0 && position < layout.count; position += by) {
    const row = layout.row(position);
    if (row.item) return row;
    void load(row.to);
  }
  return undefined;
}

/** Bring the page of records that an event is on. @param {number} k */
async function load(k) {
  const number = Math.floor((k - 1) / recordsPerPage);
  if (underWay.has(number)) return;
  underWay.add(number);
  try {
    await loadPage(number);
    if (!startOf(number)) await new Promise((resolve) => setTimeout(resolve, retryMilliseconds));
  } catch {
    // The gap stays and says so; scrolling asks again.
    await new Promise((resolve) => setTimeout(resolve, retryMilliseconds));
  } finally {
    underWay.delete(number);
  }
}

/** @param {HTMLElement} scroller @param {Place} at @param {() => void} redraw */
function watchSize(scroller, at, redraw) {
  const watch = new ResizeObserver(() => {
    if (at.height === scroller.clientHeight && at.width === scroller.clientWidth) return;
    Object.assign(at, { height: scroller.clientHeight, width: scroller.clientWidth });
    redraw();
  });
  watch.observe(scroller);
  return () => watch.disconnect();
}

/** Read each new line aloud, where that is wanted. What was there before, and what one rewinds to, is not read. @param {Layout} layout @param {number} newest */
function useAloud(layout, newest) {
  const line = newest < 0 ? null : layout.row(newest).item?.line;
  const known = useRef(0);
  useEffect(() => {
    const isNext = line && known.current > 0 && line.k > known.current && !isRewound.value;
    known.current = line?.k ?? known.current;
    if (line && isNext) say(`${line.name}, ${placeAndAddressee(line)}: ${line.text}`);
  }, [line?.k]);
}

function Nothing() {
  if (status.value === "loading") return null;
  if (!place.value) return html`<p class="empty">Nothing has been said yet.</p>`;
  return html`<div class="empty"><p>Nothing was said there.</p><${Button} label="Show all places" onClick=${() => choosePlace("")} /></div>`;
}
