// @ts-check
/**
 * The teams face of the play: a team at each side, their turns between them, and the judge below. The newest line is whole.
 *
 * Always holds: it shows the moment shown, from the records that the page holds; only rows near those in sight are in the page.
 */
import { html, useEffect, useLayoutEffect, useRef, useState } from "page/html";
import { FaceSwitch } from "page/centre/switch";
import { counted } from "page/graph/summary";
import { icon } from "page/icons";
import { harmless } from "page/plain";
import { isDrawerOpen } from "page/sides";
import { recordsPerPage } from "page/source";
import { canReadMinds, head, loadedFrom, loadPage, minds, moment, record, run, session, shown, toggleMinds, view } from "page/store";
import { Button } from "page/ui";
import { makeFolding } from "page/teams/folding";
import { Row } from "page/teams/rows";
import { Side } from "page/teams/side";
import { Strip } from "page/teams/strip";
import { countTo, itemAt, newestIn, tallyAt, wordOf } from "page/teams/turns";

/**
 * @typedef {import("page/apply").View} View
 * @typedef {import("page/teams/turns").Item} Item
 * @typedef {import("page/teams/turns").Turns} Turns
 */

/** So many rows are in the page at most, and so many more are shown at a time when somebody scrolls to the end of them. */
const rowsMax = 80;
const rowsStep = 40;
/** Nearer to the end of the rows than this, more of them are shown. */
const nearPixels = 240;
/** Nearer to the newest row than this, the page follows it. */
const followPixels = 40;

/** More teams than this have no columns of their own. */
const columnsMax = 5;

const folding = makeFolding(record);

export function Teams() {
  moment.value;
  loadedFrom.value;
  const [, setLoads] = useState(0);
  const now = view();
  const teams = Object.keys(now?.contest.teams ?? {});
  if (!now || !teams.length) return html`<div class="teams-face"><div class="face-head"><${FaceSwitch} /></div><p class="graph-empty">No teams play here${now?.k ? " at this moment" : ""}.</p></div>`;
  const turns = folding.upTo(shown.value, storyOf(now), (handle) => teams.find((team) => now.contest.teams[team].includes(handle)) ?? "");
  // The last verdict stands whole in the judge's strip.
  const ruling = now.contest.verdicts.at(-1)?.n ?? 0;
  const items = turns.items.slice(0, countTo(turns.items, shown.value)).filter((item) => item.is !== "aside" || item.k !== ruling);
  const speaker = Object.entries(now.creatures).reduce((last, [id, { line }]) => ((line?.n ?? 0) > (now.creatures[last]?.line?.n ?? 0) ? id : last), "");
  const sides = teams.map((team, at) => html`<${Side} key=${team} now=${now} team=${team} tally=${tallyAt(turns, team, shown.value)} word=${wordOf(items, team, shown.value)} since=${turns.from + 1} newest=${speaker} place=${teams.length > 2 ? "top" : at ? "right" : "left"} />`);
  const loadOlder = async () => {
    const first = folding.more();
    await loadPage(Math.floor((first - 1) / recordsPerPage)).catch(() => {});
    setLoads((loads) => loads + 1);
  };
  const rows = html`<${Rows} key=${session.value.run} now=${now} teams=${teams} items=${items} k=${shown.value} newest=${now.creatures[speaker]?.line?.n ?? 0} hasOlder=${turns.from > 0} onOlder=${loadOlder} />`;
  const scene = harmless(now.scene.title || run()?.seed || "");
  return html`<div class=${`teams-face${teams.length > 2 ? " has-many" : ""}${teams.length > columnsMax ? " has-crowd" : ""}`} style=${{ "--teams": teams.length }}>
    <div class="face-head"><${FaceSwitch} /><span class="chip">${counted(teams.length, "team")}</span><span class="chip teams-count">${counted(run()?.spent.turns ?? 0, "turn")}</span>
      <span class="teams-scene" dir="auto">${scene}</span>
      ${canReadMinds() ? html`<${Button} label=${minds.value ? "Hide minds" : "Read minds"} kbd="T" isPressed=${minds.value} onClick=${toggleMinds} />` : null}
      <span class="teams-events"><${Button} label=${html`Events <i class="mono">${head.value}</i>`} kbd="E" onClick=${() => (isDrawerOpen.value = !isDrawerOpen.value)} /></span></div>
    <div class="teams-body">${teams.length > 2 ? html`<div class="teams-tops">${sides}</div>${rows}` : html`${sides[0]}${rows}${sides[1] ?? null}`}</div>
    <${Strip} now=${now} teams=${teams} isNewest=${ruling > 0 && ruling === now.creatures[speaker]?.line?.n} />
  </div>`;
}

/** What turns depend on beside records: which runs are counted together, and who plays for whom. @param {View} now */
const storyOf = (now) => `${session.value.run} ${Object.keys(now.runs).sort().join(" ")} ${JSON.stringify(now.contest.teams)}`;

/** @param {{now: View, teams: string[], items: Item[], k: number, newest: number, hasOlder: boolean, onOlder: () => Promise<void>}} props */
function Rows({ now, teams, items, k, newest, hasOlder, onOlder }) {
  const box = useRef(/** @type {HTMLOListElement|null} */ (null));
  /** The number of the last item in the page, if that is not the newest. */
  const [end, setEnd] = useState(/** @type {number|null} */ (null));
  const [walked, setWalked] = useState(0);
  const [isFollowing, setFollowing] = useState(true);
  const scrolledTo = useRef(0);
  const isLoading = useRef(false);
  /** The row that stays where it is while others come and go. */
  const anchor = useRef(/** @type {{k: string, top: number}|null} */ (null));
  const last = end === null ? items.length : countTo(items, end);
  const first = Math.max(0, last - rowsMax);
  const rows = items.slice(first, last).map((item) => itemAt(item, k));
  const reachable = rows.some((item) => hasLine(item, walked)) ? walked : newestIn(rows);

  useLayoutEffect(() => {
    const list = box.current;
    if (!list) return;
    if (isFollowing && end === null) follow(list, newest);
    else if (anchor.current) {
      const row = list.querySelector(`[data-k="${anchor.current.k}"]`);
      if (row) list.scrollTop += row.getBoundingClientRect().top - anchor.current.top;
    }
    anchor.current = null;
    scrolledTo.current = list.scrollTop;
  });
  useEffect(() => {
    const list = box.current;
    if (!list) return undefined;
    const observer = new ResizeObserver(() => {
      if (isFollowing && end === null) {
        follow(list, newest);
        scrolledTo.current = list.scrollTop;
      }
    });
    observer.observe(list);
    return () => observer.disconnect();
  }, [isFollowing, end, newest]);

  /** @param {HTMLElement} list */
  const hold = (list) => {
    const top = list.getBoundingClientRect().top;
    const row = [...list.children].find((child) => child.getBoundingClientRect().bottom > top && child.hasAttribute("data-k"));
    anchor.current = row ? { k: row.getAttribute("data-k") ?? "", top: row.getBoundingClientRect().top } : null;
  };
  const onScroll = () => {
    const list = box.current;
    if (!list || Math.abs(list.scrollTop - scrolledTo.current) < 2) return;
    scrolledTo.current = list.scrollTop;
    const below = list.scrollHeight - list.scrollTop - list.clientHeight;
    setFollowing(end === null && below < followPixels);
    if (list.scrollTop < nearPixels && first > 0) {
      hold(list);
      setEnd(items[Math.max(rowsMax, last - rowsStep) - 1].k);
    } else if (list.scrollTop < nearPixels && hasOlder && !isLoading.current) {
      isLoading.current = true;
      hold(list);
      void onOlder().finally(() => (isLoading.current = false));
    } else if (below < nearPixels && last < items.length) {
      hold(list);
      setEnd(last + rowsStep >= items.length ? null : items[last + rowsStep - 1].k);
    }
  };
  const goToNewest = () => {
    setEnd(null);
    setFollowing(true);
  };
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    const from = /** @type {HTMLElement|null} */ (document.activeElement?.closest(".teams-bubble"));
    const next = from ? bubbleNext(from, event.key) : null;
    if (!next) return;
    event.preventDefault();
    setFollowing(false);
    setWalked(Number(next.getAttribute("data-n")));
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  };
  const hasNames = teams.some((team) => now.contest.teams[team].length > 1);
  return html`<div class="teams-middle">
    <ol class="teams-rows" ref=${box} aria-label="Turns" tabindex=${rows.length ? -1 : 0} onScroll=${onScroll} onKeyDown=${onKeyDown}>
      ${first === 0 && hasOlder ? html`<li class="teams-older"><button type="button" class="button small" onClick=${() => void onOlder()}>Show earlier turns</button></li>` : null}
      ${rows.map((item) => html`<${Row} key=${item.k} item=${item} count=${linesIn(item)} teams=${teams} now=${now} newest=${hasLine(item, newest) ? newest : 0} walked=${hasLine(item, reachable) ? reachable : 0} hasNames=${hasNames} />`)}
      ${rows.length ? null : html`<li class="teams-nothing">Nobody has spoken yet.</li>`}
    </ol>
    ${!isFollowing || end !== null ? html`<button type="button" class="button teams-jump" onClick=${goToNewest}>${icon("chevron", 14)}<span>To the newest turn</span></button>` : null}
  </div>`;
}

/** @param {Item} item */
const linesIn = (item) => (item.is === "turn" ? Object.values(item.cells).reduce((sum, lines) => sum + lines.length, 0) : 1);

/** @param {Item} item @param {number} n */
const hasLine = (item, n) => (item.is === "turn" ? Object.values(item.cells).some((lines) => lines.some((line) => line.k === n)) : item.is === "aside" && item.k === n);

/** Show the newest row, and of it the whole newest line: its beginning, if it is higher than the list. @param {HTMLElement} list @param {number} newest */
function follow(list, newest) {
  list.scrollTop = list.scrollHeight;
  const bubble = list.querySelector(`.teams-bubble[data-n="${newest}"]`);
  const above = bubble ? list.getBoundingClientRect().top + 8 - bubble.getBoundingClientRect().top : 0;
  if (above > 0) list.scrollTop -= above;
}

/** The bubble that an arrow key leads to: up and down by turn, left and right to another team. @param {HTMLElement} from @param {string} key @returns {HTMLElement|null} */
function bubbleNext(from, key) {
  const row = from.closest("li");
  const all = (/** @type {Element|null} */ within) => /** @type {HTMLElement[]} */ ([...(within?.querySelectorAll(".teams-bubble") ?? [])]);
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const others = all(row);
    const at = others.indexOf(from);
    const rest = key === "ArrowRight" ? others.slice(at + 1) : others.slice(0, at).reverse();
    return rest.find((other) => other.getAttribute("data-team") !== from.getAttribute("data-team")) ?? null;
  }
  if (key !== "ArrowUp" && key !== "ArrowDown") return null;
  const step = (/** @type {Element} */ at) => (key === "ArrowUp" ? at.previousElementSibling : at.nextElementSibling);
  let next = row ? step(row) : null;
  while (next && !all(next).length) next = step(next);
  const there = all(next);
  return there.find((other) => other.getAttribute("data-team") === from.getAttribute("data-team")) ?? there[0] ?? null;
}
