// @ts-check
/**
 * The cast: a card for every creature, in the order of graphs and births, which does not change while they talk.
 *
 * Always holds: only cards in sight are in the page, so a thousand creatures cost no more than ten; and a card is drawn
 * again only when its own entry is another object.
 */
import { signal } from "@preact/signals";
import { html, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "page/html";
import { canReadMinds, flipped, minds, moment, selection, thinking, view } from "page/store";
import { nameOf } from "page/apply";
import { creatureItems } from "page/graph/changes";
import { Card } from "page/stage/card";
import { Menu } from "page/ui";
import { numbersOnPath } from "page/why/path";

const rowPixels = 90;
const cardPixelsMin = 290;
const rowsAround = 3;
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
function lastSpeaker(creatures) {
  let [last, n] = ["", 0];
  for (const id in creatures) {
    const line = creatures[id].line;
    if (line && line.n > n) [last, n] = [id, line.n];
  }
  return last;
}

/** A second hand, which moves only while somebody thinks. */
function useSeconds() {
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
  const { box, first, count, columns, rows } = useWindow(cast.length);
  const now = useSeconds();
  const chosen = selection.value?.kind === "creature" ? selection.value.id : "";
  const last = lastSpeaker(creatures);
  const canRead = canReadMinds();
  const steps = numbersOnPath.value;
  const walker = cast.includes(chosen) ? chosen : cast[0];
  useShown(box, cast.indexOf(chosen), columns);
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
  const some = cast.slice(first * columns, (first + count) * columns);
  return html`<div class="cast" ref=${box}>
    ${menu && creatures[menu.id] ? html`<${Menu} label=${nameOf(creatures[menu.id].handle, shownView)} x=${menu.x} y=${menu.y} items=${creatureItems(menu.id)} onClose=${closeMenu} />` : null}
    <ul aria-label="Cast" onKeyDown=${onKeyDown} onContextMenu=${openMenu} style=${{ paddingTop: `${first * rowPixels}px`, paddingBottom: `${Math.max(0, rows - first - count) * rowPixels}px`, gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}>
      ${some.map((id, at) => {
        const thought = thinking.value[id];
        return html`<${Card} key=${id} id=${id} creature=${creatures[id]} colour=${graphs[creatures[id].graph]?.colour ?? 0} isBack=${canRead && minds.value !== flipped.value.has(id)}
          canRead=${canRead} isChosen=${id === chosen} isLast=${id === last} isSpeaking=${id === speaker.value} isThinking=${thought !== undefined} elapsed=${elapsed(thought, now)} progress=${progress(thought, now)}
          words=${thought?.text ?? ""} queue=${thought?.queued ?? 0} isWalked=${id === walker} position=${first * columns + at + 1} count=${cast.length} step=${steps.get(id) ?? 0} />`;
      })}
    </ul>
  </div>`;
}

/** Which rows are in sight. @param {number} cards */
function useWindow(cards) {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const [sight, setSight] = useState({ first: 0, count: 12, columns: 1 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const look = () => {
      const columns = Math.max(1, Math.floor((element.clientWidth - 16) / cardPixelsMin));
      const first = Math.max(0, Math.floor(element.scrollTop / rowPixels) - rowsAround);
      const count = Math.ceil(element.clientHeight / rowPixels) + 2 * rowsAround;
      setSight((before) => (before.first === first && before.count === count && before.columns === columns ? before : { first, count, columns }));
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
  const rows = Math.ceil(cards / sight.columns);
  return { box, ...sight, first: Math.min(sight.first, Math.max(0, rows - sight.count)), rows };
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

/** Scroll to the card that was chosen, here or elsewhere. @param {{current: HTMLElement|null}} box @param {number} at @param {number} columns */
function useShown(box, at, columns) {
  useEffect(() => {
    const element = box.current;
    if (!element || at < 0) return;
    const top = Math.floor(at / columns) * rowPixels;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowPixels + 16 > element.scrollTop + element.clientHeight) element.scrollTop = top + rowPixels + 16 - element.clientHeight;
  }, [at]);
}
