// @ts-check
/**
 * The cast: a card for every creature, in the order of graphs and births, which does not change while they talk. Who spoke last
 * and who is chosen have their whole line on it; of more than six creatures the others are rows.
 *
 * Always holds: only cards in sight are in the page, so a thousand creatures cost no more than ten; and a card is drawn
 * again only when its own entry is another object.
 */
import { signal } from "@preact/signals";
import { html, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "page/html";
import { canReadMinds, flipped, minds, moment, record, selection, thinking, view } from "page/store";
import { nameOf } from "page/apply";
import { addresseeOf } from "page/graph/bubble_lines";
import { creatureItems } from "page/graph/changes";
import { harmless } from "page/plain";
import { Card } from "page/stage/card";
import { cardKind, rowsInSight, rowsOf } from "page/stage/rows";
import { Menu } from "page/ui";
import { numbersOnPath } from "page/why/path";

const cardPixelsMin = 290;
const rowsAround = 3;
/** How long the cast stays where a finger has moved it. */
const touchMilliseconds = 5000;
/** Scrolling draws the cast anew in steps of so many pixels. */
const sightStep = 30;
/** Heights that are remembered: of the cards that were open last. */
const measuredMax = 40;
/** Above and below the cards. */
const castPadding = 14;
const speakingMilliseconds = 1400;
const secondsUntimed = 5;

/** Who has just said something. */
export const speaker = signal("");
/** @type {ReturnType<typeof setTimeout>|undefined} */
let speakerTimer;

/** Show who says a line, for a moment. @param {import("page/apply").Record} record */
export function noteSpeaker(record) {
  const change = record.d.find(([, path]) => path[0] === "creatures" && path[2] === "line");
  if (!change) return;
  speaker.value = change[1][1];
  clearTimeout(speakerTimer);
  speakerTimer = setTimeout(() => (speaker.value = ""), speakingMilliseconds);
}

/** The creatures of a view: graph by graph in the order of their birth. @param {import("page/apply").View} shownView */
export function castOf({ creatures, graphs }) {
  /** @type {Map<string, string[]>} */
  const byGraph = new Map(Object.keys(graphs).map((graph) => [graph, []]));
  for (const id in creatures) {
    const { graph } = creatures[id];
    const some = byGraph.get(graph);
    if (some) some.push(id);
    else byGraph.set(graph, [id]);
  }
  return [...byGraph.values()].flat();
}

/** Who spoke last. @param {{[id: string]: import("page/apply").Creature}} creatures */
export function lastSpeaker(creatures) {
  let [last, n] = ["", 0];
  for (const id in creatures) {
    const line = creatures[id].line;
    if (line && line.n > n) [last, n] = [id, line.n];
  }
  return last;
}

/** A second hand, which moves only while somebody thinks. */
export function useSeconds() {
  const [, tick] = useState(0);
  const isMoving = Object.keys(thinking.value).length > 0;
  useEffect(() => {
    if (!isMoving) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, [isMoving]);
  return Date.now();
}

/** How long a creature has been thinking, once that is long. @param {{since?: string}|undefined} thought @param {number} now */
function elapsed(thought, now) {
  const seconds = thought?.since ? Math.floor((now - Date.parse(thought.since)) / 1000) : 0;
  return seconds >= secondsUntimed ? `${seconds} s` : "";
}

/** How far a slow model is. @param {{since?: string, prompt_percent?: number, tokens?: number}|undefined} thought @param {number} now */
function progress(thought, now) {
  if (!elapsed(thought, now)) return "";
  if (thought?.prompt_percent !== undefined) return `reads its prompt, ${thought.prompt_percent} %`;
  return thought?.tokens ? `writes, ${thought.tokens} token${thought.tokens === 1 ? "" : "s"} so far` : "";
}

export function Cast() {
  moment.value;
  const shownView = /** @type {import("page/apply").View} */ (view());
  const { creatures, graphs } = shownView;
  const cast = useMemo(() => castOf(shownView), [shownView, moment.value]);
  const now = useSeconds();
  const chosen = selection.value?.kind === "creature" ? selection.value.id : "";
  const last = lastSpeaker(creatures);
  const canRead = canReadMinds();
  const isTurned = (/** @type {string} */ id) => canRead && minds.value !== flipped.value.has(id);
  const kinds = cast.map((id) => cardKind({ isOpen: id === last || id === chosen, isTurned: isTurned(id), creatures: cast.length }));
  const { box, sight, measured } = useSight();
  const { columns } = sight;
  const rows = rowsOf(cast, kinds, columns, measured);
  const { first, end } = rowsInSight(rows, sight, rowsAround);
  const steps = numbersOnPath.value;
  const walker = cast.includes(chosen) ? chosen : cast[0];
  const isHeld = useHand(box);
  useShown(box, rows[Math.floor(cast.indexOf(chosen) / columns)], chosen, () => false);
  useShown(box, rows[Math.floor(cast.indexOf(last) / columns)], `${last} ${creatures[last]?.line?.n}`, isHeld);
  const wanted = useWalk(box);
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    const at = cast.indexOf(walker);
    const step = { ArrowDown: columns, ArrowUp: -columns, ArrowRight: 1, ArrowLeft: -1, Home: -cast.length, End: cast.length }[event.key];
    if (step === undefined || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    const next = cast[Math.max(0, Math.min(cast.length - 1, at + step))];
    selection.value = { kind: "creature", id: next };
    wanted.current = next;
  };
  const [menu, setMenu] = useState(/** @type {{id: string, x: number, y: number}|null} */ (null));
  const closeMenu = useCallback(() => setMenu(null), []);
  const openMenu = (/** @type {MouseEvent} */ event) => {
    const card = event.target instanceof Element ? /** @type {HTMLElement|null|undefined} */ (event.target.closest(".card")?.querySelector("[data-id]")) : null;
    if (!card) return;
    event.preventDefault();
    setMenu({ id: card.dataset.id ?? "", x: event.clientX, y: event.clientY });
  };
  const some = cast.slice(first * columns, end * columns);
  const total = rows.length ? rows[rows.length - 1].bottom : 0;
  const padding = { paddingTop: `${rows[first]?.top ?? 0}px`, paddingBottom: `${total - (rows[end - 1]?.bottom ?? 0)}px` };
  return html`<div class="cast" ref=${box}>
    ${menu && creatures[menu.id] ? html`<${Menu} label=${nameOf(creatures[menu.id].handle, shownView)} x=${menu.x} y=${menu.y} items=${creatureItems(menu.id)} onClose=${closeMenu} />` : null}
    <ul aria-label="Cast" onKeyDown=${onKeyDown} onContextMenu=${openMenu} style=${{ ...padding, gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}>
      ${some.map((id, at) => {
        const thought = thinking.value[id];
        return html`<${Card} key=${id} id=${id} creature=${creatures[id]} colour=${graphs[creatures[id].graph]?.colour ?? 0} isBack=${isTurned(id)} kind=${kinds[first * columns + at]}
          place=${placeOf(id, shownView)} to=${id === last || id === chosen ? addresseeOf(shownView, id, record) : ""}
          canRead=${canRead} isChosen=${id === chosen} isLast=${id === last} isSpeaking=${id === speaker.value} isThinking=${thought !== undefined} elapsed=${elapsed(thought, now)} progress=${progress(thought, now)}
          words=${thought?.text ?? ""} queue=${thought?.queued ?? 0} isWalked=${id === walker} position=${first * columns + at + 1} count=${cast.length} step=${steps.get(id) ?? 0} />`;
      })}
    </ul>
  </div>`;
}

/** The place of a creature in a word: the channel that it is on, else its graph. @param {string} id @param {import("page/apply").View} shownView */
function placeOf(id, { creatures, channels, graphs }) {
  const { line, graph } = creatures[id];
  if (line?.channel) return harmless(line.channel);
  for (const name in channels) if (channels[name].graph === graph && channels[name].edges[id]) return harmless(channels[name].name);
  return harmless(graphs[graph]?.name ?? "");
}

/** How far the cast is scrolled, how large it is, and how high the open cards in it are. */
function useSight() {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const [sight, setSight] = useState({ top: 0, height: 900, columns: 1 });
  const [measured, setMeasured] = useState(/** @type {Map<string, number>} */ (new Map()));
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const look = () => {
      const columns = Math.max(1, Math.floor((element.clientWidth - 16) / cardPixelsMin));
      const [top, height] = [Math.floor(element.scrollTop / sightStep) * sightStep, Math.ceil(element.clientHeight / sightStep) * sightStep];
      setSight((before) => (before.top === top && before.height === height && before.columns === columns ? before : { top, height, columns }));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  useLayoutEffect(() => {
    const open = [.../** @type {NodeListOf<HTMLElement>} */ (box.current?.querySelectorAll(".card.is-open") ?? [])];
    const heights = open.map((card) => /** @type {[string, number]} */ ([/** @type {HTMLElement} */ (card.querySelector("[data-id]")).dataset.id ?? "", card.offsetHeight]));
    if (heights.some(([id, height]) => measured.get(id) !== height)) setMeasured(new Map([...measured, ...heights].slice(-measuredMax)));
  });
  return { box, sight, measured };
}

/** Whether a person has the cast in hand: the pointer or the focus is in it, or a finger has just moved it. @param {{current: HTMLElement|null}} box */
function useHand(box) {
  const touched = useRef(-Infinity);
  useEffect(() => {
    const note = () => (touched.current = performance.now());
    box.current?.addEventListener("touchmove", note, { passive: true });
    return () => box.current?.removeEventListener("touchmove", note);
  }, []);
  return () => {
    const element = box.current;
    if (!element) return false;
    const isHovered = matchMedia("(hover: hover)").matches && element.matches(":hover");
    return isHovered || element.contains(document.activeElement) || performance.now() - touched.current < touchMilliseconds;
  };
}

/** Focus the card that was walked to, as soon as it is in the page: it may have to be scrolled to. @param {{current: HTMLElement|null}} box */
function useWalk(box) {
  const wanted = useRef("");
  useEffect(() => {
    const card = wanted.current && /** @type {HTMLElement|null|undefined} */ (box.current?.querySelector(`[data-id="${CSS.escape(wanted.current)}"]`));
    if (!card) return;
    wanted.current = "";
    card.focus({ preventScroll: true });
  });
  return wanted;
}

/**
 * Scroll just enough to show a whole row when another card is wanted or its height becomes known; of one that is too high, its top.
 * @param {{current: HTMLElement|null}} box @param {import("page/stage/rows").Row|undefined} row @param {string} wanted
 * @param {() => boolean} isHeld
 */
function useShown(box, row, wanted, isHeld) {
  useEffect(() => {
    const element = box.current;
    if (!element || !row || isHeld()) return;
    const spare = element.clientHeight - castPadding;
    if (row.top < element.scrollTop || row.bottom - row.top > spare) element.scrollTop = row.top;
    else if (row.bottom > element.scrollTop + spare) element.scrollTop = row.bottom - spare;
  }, [wanted, row?.top, row?.bottom]);
}
