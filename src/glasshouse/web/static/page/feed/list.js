// @ts-check
/**
 * The rows of the feed. Only those in sight are in the page, in slots that are used again: a jump to another moment changes
 * texts, and makes no elements.
 */
import { signal } from "@preact/signals";
import { html, useEffect, useLayoutEffect, useRef, useState } from "page/html";
import { colourOf, graphOf } from "page/apply";
import { Button } from "page/ui";
import { forgetIndexes, heights, indexFor, layoutOf } from "page/feed/index";
import { clearFilters, isUnfiltered } from "page/feed/filters";
import { Fold, Row, Turn } from "page/feed/row";
import { loadGap } from "page/feed/older";
import { filters, head, isRewound, moment, record, selection, session, shown, status, view } from "page/store";

/** @typedef {import("page/feed/index").Layout} Layout */

/** Rows that were opened, by their event number. */
export const openRows = signal(/** @type {Set<number>} */ (new Set()));
/** The rows as they stand now, for the header's count. */
export const listed = signal({ rows: 0, hasGaps: false });

const overscanPixels = 220;
const nearEndPixels = 6;
/** An opened row grows while its event comes in. */
const revealMilliseconds = 700;

export function List() {
  moment.value;
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const [, redraw] = useState(0);
  const at = useRef(begin()).current;
  const { run } = session.value;
  const key = `${run} ${JSON.stringify(filters.value)} ${isRewound.value ? shown.value : "live"}`;
  if (at.run !== run) {
    Object.assign(at, begin(), { run, height: at.height });
    forgetIndexes();
    openRows.value = new Set();
  }
  if (at.key !== key) {
    // Another filter or another moment: its newest row is what one wants to see.
    at.key = key;
    at.isAtEnd = true;
  }
  const index = indexFor(filters.value);
  for (const k of at.extra.keys()) if (!openRows.value.has(k)) at.extra.delete(k);
  const layout = layoutOf(index, shown.value, head.value, at.extra);
  at.layout = layout;
  // The moment shown may have no row of its own: the start of a turn, or what the filter leaves out.
  const isMomentUnlisted = isRewound.value && layout.count > 0 && layout.item(layout.count - 1).last < shown.value;
  if (at.isAtEnd) at.top = Math.max(0, layout.height + (isMomentUnlisted ? heights.turn : 0) - at.height);
  else if (at.anchor) {
    const position = layout.position(at.anchor.k);
    if (position >= 0) at.top = Math.max(0, layout.item(position).top + at.anchor.by);
  }
  if (at.reveal >= 0 && at.extra.has(at.reveal)) reveal(at, layout);
  const items = inSight(layout, at.top, at.height);
  at.anchor = anchorIn(items, at.top);
  // One row in sight can be reached by Tab; arrow keys go on from there.
  const reachable = items.filter((item) => item.type !== "gap" && item.type !== "turn" && item.top < at.top + at.height);
  const active = reachable.some((item) => item.k === at.active) ? at.active : (reachable.at(-1)?.k ?? -1);
  const slots = Math.ceil((at.height + 2 * overscanPixels) / heights.turn) + 2;

  useLayoutEffect(() => {
    const scroller = box.current;
    if (!scroller) return;
    if (Math.abs(scroller.scrollTop - at.top) > 1) scroller.scrollTop = at.top;
    if (at.focus >= 0) {
      const button = scroller.querySelector(`[data-k="${at.focus}"] button`);
      if (button instanceof HTMLElement) button.focus({ preventScroll: true });
      at.focus = -1;
    } else if (document.activeElement?.matches(".feed-head, .feed-fold button") && scroller.contains(document.activeElement) && numberOfRow(document.activeElement) !== at.active) {
      // Its slot shows another row by now.
      const button = scroller.querySelector(`[data-k="${at.active}"] button`);
      if (button instanceof HTMLElement) button.focus({ preventScroll: true });
      else scroller.focus({ preventScroll: true });
    }
  });
  useEffect(() => {
    const now = { rows: layout.rows, hasGaps: layout.hasGaps };
    if (listed.value.rows !== now.rows || listed.value.hasGaps !== now.hasGaps) listed.value = now;
    for (const item of items) if (item.type === "gap") void loadGap(index, item);
  });
  useEffect(() => {
    const scroller = box.current;
    if (!scroller) return undefined;
    const watch = new ResizeObserver(() => {
      at.height = scroller.clientHeight;
      redraw((count) => count + 1);
    });
    watch.observe(scroller);
    return () => watch.disconnect();
  }, []);

  const onScroll = () => {
    const scroller = /** @type {HTMLElement} */ (box.current);
    if (Math.abs(scroller.scrollTop - at.top) <= 1) return; // It was not the reader who scrolled.
    at.top = scroller.scrollTop;
    at.reveal = -1;
    at.anchor = null;
    at.isAtEnd = scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - nearEndPixels;
    redraw((count) => count + 1);
  };
  const { onToggle, onFold, onHeight } = useRef(handlers(at, () => redraw((count) => count + 1))).current;
  /** @param {FocusEvent} event */
  const onFocusIn = (event) => {
    if (event.target instanceof Element && event.target.matches(".feed-head, .feed-fold button")) at.active = numberOfRow(event.target);
  };
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    if (!(event.target instanceof Element) || !event.target.matches(".feed-scroll, .feed-head, .feed-fold button")) return;
    const here = Math.max(0, positionNear(layout, active));
    const page = Math.max(1, Math.floor(at.height / heights.row) - 1);
    const goal = { ArrowDown: [here + 1, 1], ArrowUp: [here - 1, -1], PageDown: [here + page, 1], PageUp: [here - page, -1], Home: [0, 1], End: [layout.count - 1, -1] }[event.key];
    if (!goal) return;
    event.preventDefault();
    const next = nearestRow(layout, goal[0], goal[1]) ?? nearestRow(layout, goal[0], -goal[1]);
    if (!next) return;
    at.active = at.focus = next.k;
    at.isAtEnd = false;
    at.anchor = null;
    if (next.top < at.top) at.top = next.top;
    else if (next.top + next.height > at.top + at.height) at.top = next.top + next.height - at.height;
    redraw((count) => count + 1);
  };

  const shownView = view();
  const chosen = selection.value?.kind === "event" ? selection.value.id : "";
  return html`<div class="feed-scroll" ref=${box} role="log" aria-live="off" aria-label="Events" tabindex=${layout.count ? -1 : 0} onScroll=${onScroll} onKeyDown=${onKeyDown} onFocusIn=${onFocusIn}>
      <div class="feed-rows" style=${{ height: `${layout.height + (isMomentUnlisted ? heights.turn : 0)}px` }}>
        ${items.map((item) => {
          const entry = item.type === "gap" ? undefined : record(item.k);
          const isActive = item.k === active;
          return html`<div key=${item.at % slots} class="feed-item" style=${{ transform: `translateY(${item.top}px)`, height: `${item.height}px` }}>
            ${item.type === "gap" ? html`<p class="feed-gap">Events ${item.k} to ${item.last} are on their way.</p>` : null}
            ${item.type === "turn" ? html`<${Turn} k=${item.k} />` : null}
            ${item.type === "fold" ? html`<${Fold} k=${item.k} last=${Math.min(item.last, shown.value)} isOpen=${index.opened.has(item.k)} isActive=${isActive} isNow=${isRewound.value && !isMomentUnlisted && item.at === layout.count - 1} onFold=${onFold} />` : null}
            ${entry && shownView && (item.type === "row" || item.type === "compact")
              ? html`<${Row} record=${entry} words=${index.filters.text} isDouble=${item.last > item.k && item.last <= shown.value} colour=${colourOf(shownView, graphOf(shownView, entry))} isCompact=${item.type === "compact"} isNow=${isRewound.value && !isMomentUnlisted && item.at === layout.count - 1}
                  isSelected=${entry.id === chosen} isOpen=${openRows.value.has(item.k)} isActive=${isActive} onToggle=${onToggle} onHeight=${onHeight} />`
              : null}
          </div>`;
        })}
        ${isMomentUnlisted ? html`<div key="moment" class="feed-item feed-moment" style=${{ transform: `translateY(${layout.height}px)` }}><${Moment} isPlain=${index.isPlain} /></div>` : null}
      </div>
      ${layout.count ? null : html`<${Nothing} />`}
    </div>
    ${at.isAtEnd || !layout.count ? null : html`<button type="button" class="feed-jump" onClick=${() => jump(at, () => redraw((count) => count + 1))}>${isRewound.value ? `Jump to ${shown.value}` : status.value === "finished" ? "Jump to the end" : "Jump to live"}</button>`}`;
}

/** What a list remembers between drawings. */
function begin() {
  return {
    run: "",
    key: "",
    top: 0,
    height: 600,
    isAtEnd: true,
    /** The row that stays where it is when rows come in above it. */
    anchor: /** @type {{k: number, by: number}|null} */ (null),
    /** By how much opened rows are higher. @type {Map<number, number>} */
    extra: /** @type {Map<number, number>} */ (new Map()),
    /** The row that the arrow keys start from, and the one that is to get the focus. */
    active: -1,
    focus: -1,
    /** The row that was opened and is to come into sight as far as it fits. */
    reveal: -1,
    revealUntil: 0,
    layout: /** @type {Layout|null} */ (null),
  };
}

/** @typedef {ReturnType<typeof begin>} Place */

/** @param {Place} at @param {() => void} redraw */
function handlers(at, redraw) {
  /** @param {number} k */
  const onToggle = (k) => {
    const next = new Set(openRows.value);
    if (next.has(k)) next.delete(k);
    else next.add(k);
    const entry = record(k);
    if (entry) selection.value = { kind: "event", id: entry.id };
    at.active = k;
    at.isAtEnd = false;
    at.reveal = next.has(k) ? k : -1;
    at.revealUntil = performance.now() + revealMilliseconds;
    openRows.value = next;
  };
  /** @param {number} k */
  const onFold = (k) => {
    indexFor(filters.value).toggle(k);
    at.active = k;
    at.isAtEnd = false;
    redraw();
  };
  /** @param {number} k @param {number} height */
  const onHeight = (k, height) => {
    if (at.extra.get(k) === height) return;
    at.extra.set(k, height);
    at.isAtEnd = false;
    redraw();
  };
  return { onToggle, onFold, onHeight };
}

/** @param {Place} at @param {Layout} layout */
function reveal(at, layout) {
  const position = layout.position(at.reveal);
  if (position < 0 || performance.now() > at.revealUntil) {
    at.reveal = -1;
    return;
  }
  const { top, height } = layout.item(position);
  at.top = Math.min(top, Math.max(at.top, top + height - at.height));
}

/** @param {Layout} layout @param {number} top @param {number} height */
function inSight(layout, top, height) {
  /** @type {import("page/feed/index").Item[]} */
  const items = [];
  if (!layout.count) return items;
  for (let at = layout.itemAt(Math.max(0, top - overscanPixels)); at < layout.count; at += 1) {
    const item = layout.item(at);
    if (item.top > top + height + overscanPixels) break;
    items.push(item);
  }
  return items;
}

/** @param {import("page/feed/index").Item[]} items @param {number} top */
function anchorIn(items, top) {
  const first = items.find((item) => item.top + item.height > top && (item.type === "row" || item.type === "compact"));
  return first ? { k: first.k, by: top - first.top } : null;
}

/** @param {Layout} layout @param {number} k */
function positionNear(layout, k) {
  const exact = layout.position(k);
  if (exact >= 0) return exact;
  for (let at = 0; at < layout.count; at += 1) if (layout.item(at).k === k) return at;
  return layout.count - 1;
}

/** The nearest item that can have the focus, in a direction. @param {Layout} layout @param {number} from @param {number} by */
function nearestRow(layout, from, by) {
  for (let at = Math.max(0, Math.min(layout.count - 1, from)); at >= 0 && at < layout.count; at += by) {
    const item = layout.item(at);
    if (item.type !== "turn" && item.type !== "gap") return item;
  }
  return null;
}

/** @param {Element} element in a row */
const numberOfRow = (element) => Number(/** @type {HTMLElement|null} */ (element.closest("[data-k]"))?.dataset.k);

/** @param {Place} at @param {() => void} redraw */
function jump(at, redraw) {
  at.isAtEnd = true;
  redraw();
}

/** Where the page is, if that event has no row. @param {{isPlain: boolean}} props */
function Moment({ isPlain }) {
  const turn = record(shown.value)?.row.turn;
  return isPlain ? html`turn ${turn} begins<i>${shown.value}</i>` : html`not in this list<i>${shown.value}</i>`;
}

function Nothing() {
  if (status.value === "loading") return html`<div class="feed-waiting" aria-hidden="true">${[1, 2, 3, 4, 5, 6].map(() => html`<div class="skeleton"></div>`)}</div>`;
  if (isUnfiltered()) return html`<p class="empty">Nothing has happened yet.</p>`;
  return html`<div class="empty feed-nothing"><p>No events match.</p><${Button} label="Clear filters" onClick=${clearFilters} /></div>`;
}
