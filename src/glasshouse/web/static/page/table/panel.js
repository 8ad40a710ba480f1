// @ts-check
/**
 * The table face of the play: everybody round a table, and what each said last. The newest line is whole.
 *
 * Always holds: it shows the view at the moment shown. Bubbles are `aria-hidden`, since the cards are read aloud; the seats are a list that
 * the keyboard walks.
 */
import { signal } from "@preact/signals";
import { html, useEffect, useLayoutEffect, useRef, useState } from "page/html";
import { FaceSwitch } from "page/centre/switch";
import { Face } from "page/face";
import { addresseeOf } from "page/graph/bubble_lines";
import { canEdit } from "page/graph/changes";
import { counted, graphName } from "page/graph/summary";
import { icon } from "page/icons";
import { register } from "page/keys";
import { harmless } from "page/plain";
import { isDirector, isRecorded, isRewound, loadedFrom, moment, openDialog, panel, record, run, selection, session, thinking, view } from "page/store";
import { Button } from "page/ui";
import { Drawing } from "page/table/drawing";
import { answeredBy, lineNumber, nameAt, seatedAt, spokenBy, tableShown, tablesOf } from "page/table/lines";
import { olderLinesMax, tableFor } from "page/table/places";
import { speakerExtra } from "page/table/seats";

/**
 * @typedef {import("page/apply").View} View
 * @typedef {import("page/table/seats").Layout} Layout
 * @typedef {import("page/table/seats").Member} Member
 * @typedef {{id: string, n: number, name: string, to: string, text: string, answers: number}} Bubble
 */

/** How wide a letter of a name is, about: names are cut where there is less room. */
const letterPixels = 7.3;
/** A stem joins a bubble and its face where the gap is wider than its tail. */
const stemGap = 20;
/** Up to this width the newest bubble grows until its head is whole. */
const headPixels = 314;
/** In an oval smaller than this nothing is written. */
const ovalWritten = { rx: 150, ry: 62 };
/** Graphs that have a chip of their own; more are not listed. */
const chipsMax = 8;
/** The drawing of a face is 52 units square, and its radius is 20 of them. */
const faceSizeOfRadius = 52 / 20 / 1.2;

/** The graph whose table somebody chose; empty: that of whoever speaks. */
const chosen = signal("");
/** Which seat the keyboard is at. */
const walked = signal("");

/** Whether something can be said to the play now: by the same way as with "Disturb". */
const canSpeak = () => isDirector.value && !isRecorded.value && !isRewound.value && run() !== undefined;

/** @param {import("page/apply").Creature} creature */
const isChair = (creature) => creature.played_by === "visitor";

export function Table() {
  moment.value;
  loadedFrom.value;
  const now = view();
  const graph = now ? tableShown(now, chosen.value) : "";
  useEffect(() => {
    const take = () => openDialog("disturb", { graph: chairGraph() });
    return register({ id: "take-seat", key: "V", label: "Take the visitor's seat", group: "Table", when: () => canSpeak() && chairGraph() !== undefined, run: take });
  }, []);
  const seated = now && graph ? seatedAt(now, graph) : [];
  const free = now ? seated.filter((id) => isChair(now.creatures[id])).length : 0;
  const all = now && graph ? (tablesOf(now).get(graph)?.length ?? 0) : 0;
  return html`<div class="table-face">
    <div class="face-head"><${FaceSwitch} />
      ${graph ? html`<span class="chip">${all > seated.length ? `${seated.length - free} of ${(all - free).toLocaleString("en")}` : all - free} seated</span>` : null}
      ${free ? html`<span class="chip">${counted(free, "free seat")}</span>` : null}
      <span class="table-space"></span>
      ${canEdit() ? html`<${Button} label="Spawn" icon="plus" kbd="N" onClick=${() => openDialog("spawn")} />` : null}
      <${Tables} shown=${graph} />
    </div>
    ${now && graph ? html`<${Room} key=${graph} now=${now} graph=${graph} seated=${seated} />` : html`<p class="graph-empty">Nobody is here${now?.k ? " at this moment" : " yet"}.</p>`}
  </div>`;
}

/** The graph with a visitor's chair, first of all the one that is shown; undefined if there is none. */
function chairGraph() {
  const now = view();
  if (!now) return undefined;
  const chairs = Object.values(now.creatures).filter((creature) => isChair(creature) && creature.run === session.value.run);
  const shown = tableShown(now, chosen.value);
  return (chairs.find(({ graph }) => graph === shown) ?? chairs[0])?.graph;
}

/** Chips to look at the table of another graph. @param {{shown: string}} props */
function Tables({ shown }) {
  const now = view();
  if (!now) return null;
  const graphs = [...tablesOf(now)];
  if (graphs.length < 2) return null;
  return html`<div class="table-chips" role="group" aria-label="Whose table">
    ${graphs.slice(0, chipsMax).map(([id, ids]) => html`<button type="button" key=${id} class=${`chip of-${now.graphs[id].colour % 8}${id === shown ? " is-shown" : ""}`} aria-pressed=${id === chosen.value}
      title=${id === chosen.value ? "Follow whoever speaks again" : "Stay at this table"} onClick=${() => (chosen.value = chosen.value === id ? "" : id)}><i class="table-dot"></i>${graphName(now.graphs[id])} <span class="mono">${ids.length}</span></button>`)}
  </div>`;
}

/** @param {{now: View, graph: string, seated: string[]}} props */
function Room({ now, graph, seated }) {
  const box = useRef(/** @type {HTMLDivElement|null} */ (null));
  const size = useSize(box);
  const bubbles = bubblesAt(now, seated);
  const members = seated.map((id) => memberOf(now, id));
  const { layout, stems } = useLayout(box, size, members, bubbles);
  const colour = now.graphs[graph]?.colour ?? 0;
  const [newest] = bubbles;
  const plates = seated.filter((id) => lineNumber(now.creatures[id])).map((id) => ({ id, n: lineNumber(now.creatures[id]), answers: answeredBy(now, id, record)?.n ?? 0, isNewest: id === newest?.id }));
  return html`<div class=${`table-scroller of-${colour % 8}`}><div class="table-room" ref=${box}>
    ${layout && size ? html`<${Drawing} layout=${layout} size=${size} plates=${plates} colour=${colour} />${Stems(stems, size)}<${Middle} layout=${layout} />
      <${Seats} layout=${layout} now=${now} graph=${graph} newest=${newest?.id ?? ""} />` : null}
    <div class="table-bubbles" aria-hidden="true">
      ${bubbles.map(({ id, n, name, to, text }, at) => html`<div key=${`${id} ${n}`} data-n=${n} data-id=${id} class=${`bubble is-gone ${at ? "is-older" : "is-newest"}`} onClick=${() => askWhy(n)}>
        <div class="bubble-head"><b dir="auto">${name}</b><span dir="auto">${to}</span><i class="mono">${n}</i></div>
        <div class="bubble-words" tabindex="-1" dir="auto">${text}</div>
        <i class="bubble-tail"></i>
      </div>`)}
    </div>
    <${Legend} hasJudge=${members.some(({ isJudge }) => isJudge)} hasLines=${plates.length > 0} />
  </div></div>`;
}

/** The lines round the table, the newest first. @param {View} now @param {string[]} seated @returns {Bubble[]} */
function bubblesAt(now, seated) {
  // The answer to a why has the line itself.
  if (panel.value.startsWith("why:")) return [];
  return spokenBy(now, seated).map((id) => {
    const line = /** @type {import("page/apply").Line} */ (now.creatures[id].line);
    const answered = answeredBy(now, id, record);
    return { id, n: line.n, name: nameAt(now, id), to: answered?.words ?? addresseeOf(now, id, record), text: harmless(line.text), answers: answered?.n ?? 0 };
  });
}

/** @param {View} now @param {string} id @returns {Member} */
function memberOf(now, id) {
  const creature = now.creatures[id];
  return { id, nameWidth: Math.ceil(nameAt(now, id).length * letterPixels) + 6, isJudge: creature.role === "judge", isVisitor: isChair(creature) && creature.role !== "judge" };
}

/** @param {number} n */
function askWhy(n) {
  const id = record(n)?.id;
  if (id && !getSelection()?.toString()) panel.value = `why:${id}`;
}

/** How large a box is, from now on. @param {{current: HTMLElement|null}} box @returns {{width: number, height: number}|null} */
function useSize(box) {
  const [size, setSize] = useState(/** @type {{width: number, height: number}|null} */ (null));
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const look = () => setSize((before) => (before?.width === element.clientWidth && before.height === element.clientHeight ? before : { width: element.clientWidth, height: element.clientHeight }));
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return size;
}

/**
 * Measure the bubbles, and place them and the seats. The room that a long line needed stays for the lines after it, so that the table does not
 * move with each of them.
 * @param {{current: HTMLElement|null}} box @param {{width: number, height: number}|null} size @param {Member[]} members @param {Bubble[]} bubbles
 */
function useLayout(box, size, members, bubbles) {
  const [drawn, setDrawn] = useState(/** @type {{key: string, layout: Layout|null, stems: Stem[]}} */ ({ key: "", layout: null, stems: [] }));
  const bands = useRef({ top: 0, bottom: 0, key: "" });
  const heights = useRef(/** @type {Map<string, number>} */ (new Map()));
  const [fonts, setFonts] = useState(0);
  useEffect(() => {
    let isHere = true;
    void document.fonts?.ready.then(() => {
      heights.current.clear();
      if (isHere) setFonts(1);
    });
    return () => {
      isHere = false;
    };
  }, []);
  const who = members.map(({ id, isJudge, isVisitor, nameWidth }) => `${id} ${isJudge} ${isVisitor} ${nameWidth}`).join("\n");
  const said = bubbles.map(({ id, n, to }) => `${id} ${n} ${to}`).join("\n");
  useLayoutEffect(() => {
    if (!size || !box.current) return;
    const key = `${who}\n${size.width} ${size.height}`;
    const kept = bands.current.key === key ? bands.current : { top: 0, bottom: 0, key };
    const elements = new Map([...box.current.querySelectorAll(".bubble")].map((element) => [element.getAttribute("data-id") ?? "", /** @type {HTMLElement} */ (element)]));
    const measured = bubbles.map(({ id, n, to }, at) => ({ id, heightAt: heightOf(elements.get(id), `${id} ${n} ${to} ${at > 0}`, at === 0, heights.current) }));
    const { layout, places, bands: needed } = tableFor(members, size, measured, kept);
    bands.current = { ...needed, key };
    for (const [id, element] of elements) stand(element, places.get(id));
    const stems = stemsOf(layout, places);
    const shape = JSON.stringify([layout, stems]);
    setDrawn((before) => (before.key === shape ? before : { key: shape, layout, stems }));
    if (heights.current.size > 400) heights.current.clear();
  }, [size, who, said, fonts]);
  return drawn;
}

/** The height of a bubble in a width. The newest grows until its head is whole. @param {HTMLElement|undefined} element @param {string} key @param {boolean} isNewest @param {Map<string, number>} known @returns {(width: number) => number} */
const heightOf = (element, key, isNewest, known) => (width) => {
  const name = `${key} ${width}`;
  let height = known.get(name);
  if (height === undefined && element) {
    element.style.width = `${width}px`;
    element.style.maxHeight = "none";
    element.style.setProperty("--lines", String(olderLinesMax));
    const to = /** @type {HTMLElement} */ (element.querySelector(".bubble-head span"));
    height = isNewest && width < headPixels && to.scrollWidth > to.clientWidth ? Infinity : element.offsetHeight;
    known.set(name, height);
  }
  return height ?? 0;
};

/** @param {HTMLElement} element @param {import("page/table/places").Place|undefined} place */
function stand(element, place) {
  element.classList.toggle("is-gone", !place);
  if (!place) return;
  const { box, isAbove, tail, lines, isWhole } = place;
  const left = Math.round(box.left);
  element.style.width = `${box.right - box.left}px`;
  element.style.maxHeight = isWhole ? "none" : `${Math.floor(box.bottom - box.top)}px`;
  element.style.setProperty("--lines", String(lines));
  element.style.transform = `translate(${left}px, ${Math.round(box.top)}px)`;
  element.classList.toggle("is-below", !isAbove);
  element.classList.toggle("is-whole", isWhole);
  /** @type {HTMLElement} */ (element.querySelector(".bubble-tail")).style.left = `${tail}px`;
}

/** @typedef {{x1: number, y1: number, x2: number, y2: number}} Stem */

/** Lines from bubbles to faces that are far from them. @param {Layout} layout @param {Map<string, import("page/table/places").Place>} places @returns {Stem[]} */
function stemsOf({ seats }, places) {
  return seats.flatMap(({ id, x, face, label }) => {
    const place = places.get(id);
    if (!place) return [];
    const [top, bottom] = [Math.min(face.top, label?.top ?? face.top), Math.max(face.bottom, label?.bottom ?? face.bottom)];
    const [y1, y2] = place.isAbove ? [place.box.bottom + 7, top - 2] : [place.box.top - 7, bottom + 2];
    return Math.abs(y2 - y1) > stemGap ? [{ x1: Math.round(place.box.left) + place.tail, y1, x2: x, y2 }] : [];
  });
}

/** @param {Stem[]} stems @param {{width: number, height: number}} size */
const Stems = (stems, size) =>
  stems.length ? html`<svg class="table-stems" width=${size.width} height=${size.height} aria-hidden="true" focusable="false">${stems.map((stem) => html`<line ...${stem} />`)}</svg>` : null;

/** What the play grows from, in the middle of the table. @param {{layout: Layout}} props */
function Middle({ layout: { oval } }) {
  const { seed, title } = run() ?? {};
  const scene = harmless(view()?.scene.title || title || "");
  if (!seed || oval.rx < ovalWritten.rx || oval.ry < ovalWritten.ry) return null;
  return html`<div class="table-middle" style=${{ left: `${oval.x}px`, top: `${oval.y}px`, width: `${Math.round(oval.rx * 1.2)}px` }}><small dir="auto">${scene}</small><p dir="auto">${harmless(seed)}</p></div>`;
}

/** @param {{layout: Layout, now: View, graph: string, newest: string}} props */
function Seats({ layout, now, graph, newest }) {
  const seats = layout.seats.filter(({ id }) => now.creatures[id]);
  const current = seats.some(({ id }) => id === walked.value) ? walked.value : (seats.find(({ id }) => id === newest) ?? seats[0])?.id;
  const thinks = isRewound.value ? {} : thinking.value;
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    const at = seats.findIndex(({ id }) => id === current);
    const next = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: seats.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    walked.value = seats[(next + seats.length) % seats.length].id;
    const list = /** @type {HTMLElement} */ (event.currentTarget);
    /** @type {HTMLElement|null} */ (list.querySelector(`[data-id="${CSS.escape(walked.value)}"] .table-sitter`))?.focus();
  };
  return html`<ul class="table-seats" aria-label=${`Seats at ${graphName(now.graphs[graph])}`} onKeyDown=${onKeyDown}>
    ${seats.map((seat) => html`<${SeatOf} key=${seat.id} seat=${seat} creature=${now.creatures[seat.id]} colour=${now.graphs[graph]?.colour ?? 0} isNewest=${seat.id === newest}
      isWalked=${seat.id === current} isThinking=${Boolean(thinks[seat.id])} isChosen=${selection.value?.id === seat.id} canTake=${canSpeak()} name=${nameAt(now, seat.id)} />`)}
  </ul>`;
}

/** @param {{seat: import("page/table/seats").Seat, creature: import("page/apply").Creature, colour: number, isNewest: boolean, isWalked: boolean, isThinking: boolean, isChosen: boolean, canTake: boolean, name: string}} props */
function SeatOf({ seat, creature, colour, isNewest, isWalked, isThinking, isChosen, canTake, name }) {
  const { id, x, y, r, label } = seat;
  const n = lineNumber(creature);
  const isJudge = creature.role === "judge";
  const isFree = isChair(creature);
  const radius = r + (isNewest || isFree ? speakerExtra : 0);
  const size = radius * faceSizeOfRadius;
  const about = [name, isJudge && "judge", isFree && "a visitor's seat", n ? `line ${n}` : "has not spoken yet", isThinking && "thinks"].filter(Boolean).join(", ");
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    if (event.key !== "Enter" || !n) return;
    event.preventDefault();
    askWhy(n);
  };
  const choose = () => {
    walked.value = id;
    selection.value = isChosen ? null : { kind: "creature", id };
  };
  const classes = ["table-seat", isNewest && "is-newest", isChosen && "is-chosen", isFree && "is-chair", isThinking && "is-thinking", !creature.is_running && "is-stopped"].filter(Boolean).join(" ");
  return html`<li class=${classes} data-id=${id} style=${{ transform: `translate(${Math.round(x)}px, ${Math.round(y)}px)` }}>
    <button type="button" class="table-sitter" tabindex=${isWalked ? 0 : -1} aria-label=${about} aria-pressed=${isChosen} title=${label ? undefined : name} onClick=${choose} onKeyDown=${onKeyDown}
      style=${{ width: `${radius * 2}px`, height: `${radius * 2}px`, left: `${-radius}px`, top: `${-radius}px` }}>
      <span class="table-ring"></span>
      ${isFree && !n ? Chair(radius) : html`<span class="table-portrait" style=${{ left: `${radius - (24 / 52) * size * 1.2}px`, top: `${radius - size * 0.6}px` }}><${Face} id=${creature.handle} colour=${`var(--g${colour % 8})`} size=${size} isOpen=${isNewest} hasCrown=${creature.is_privileged} isJudge=${isJudge && !label} isDim=${!creature.is_running} /></span>`}
      ${isThinking ? html`<i class="dots" aria-hidden="true"><i></i><i></i><i></i></i>` : null}
    </button>
    ${label ? html`<span class="table-label" style=${{ left: `${Math.round(label.left - x)}px`, top: `${Math.round(label.top - y)}px`, width: `${Math.round(label.right - label.left)}px` }} aria-hidden="true">
      ${isJudge ? html`<small class="table-judge">${icon("judge", 13)} judge</small>` : null}<b dir="auto">${name}</b></span>` : null}
    ${isFree && canTake && label ? html`<span class="table-take" style=${{ top: `${Math.round(label.top - y) + 21}px` }}><${Button} label="Take this seat" kbd="V" title="Say something here, as a visitor" onClick=${() => openDialog("disturb", { graph: creature.graph })} /></span>` : null}
  </li>`;
}

/** @param {number} radius */
const Chair = (radius) => html`<svg class="table-chair" width=${radius * 2} height=${radius * 2} viewBox="-27 -27 54 54" aria-hidden="true" focusable="false"><path d="M-6-10h12v11h-12zM-8 1h16v5h-16zM-7 6v6M7 6v6M-6-4.500h12" /></svg>`;

/** @param {{hasJudge: boolean, hasLines: boolean}} props */
function Legend({ hasJudge, hasLines }) {
  return html`<div class="table-legend" aria-hidden="true">
    ${hasLines ? html`<span><svg width="18" height="14"><ellipse cx="9" cy="7" rx="8" ry="5.5" class="legend-plate" /></svg>last line</span>
      <span><svg width="22" height="10"><path d="M1 5h18M15 1.500l4 3.500-4 3.500" class="legend-answers" /></svg>answers</span>` : null}
    ${hasJudge ? html`<span class="table-judge">${icon("judge", 13)}</span><span>judge</span>` : null}
  </div>`;
}
