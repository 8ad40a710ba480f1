// @ts-check
/** Time: the transport, and bars, lanes and the playhead on one axis. */
import { effect, signal } from "@preact/signals";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "page/html";
import { nameOf } from "page/apply";
import { canFinish, canPlayOn, canReplay, canSkip, playOn, playOrPause, skip } from "page/actions";
import { play } from "page/commands";
import { register } from "page/keys";
import { limitWords } from "page/limits";
import { theme } from "page/colours";
import { harmless } from "page/plain";
import { Button, IconButton, Menu } from "page/ui";
import { driver, goLive, head, headView, isDirector, isRecorded, isReplaying, isRewound, lanesVersion, loadedFrom, moment, open, openDialog, record, replaySpeed, run, seek, session, shown, source, status, stepBy, thinking, timeline } from "page/store";
import { areLanesOpen } from "page/sides";
import { axisOf, roomFor } from "page/time/axis";
import { drawBars } from "page/time/bars";
import { followFamily, forks } from "page/time/family";
import { compareWith } from "page/compare/open";
import { lineageOf } from "page/time/lanes";
import { Lanes } from "page/time/lineage";
import { WhyPath } from "page/time/path_arcs";

const drawMilliseconds = 100;
const speeds = [1, 2, 4];

/** What the drawing shows: the newest, but no more often than panels are drawn. */
const drawn = signal({ events: 0, timeline: timeline.peek() });
/** Where the pointer drags to; the page follows as soon as it can. */
const dragged = signal(/** @type {number|null} */ (null));

export function Time() {
  useEffect(followHead, []);
  useEffect(() => (source().kind === "server" ? followFamily() : undefined), []);
  useEffect(() => register({ id: "lineage", key: "L", label: "Focus the lineage", group: "Time", when: () => head.value > 0, run: focusLineage }), []);
  return html`<${Transport} /><${Tracks} />`;
}

function followHead() {
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;
  const take = () => {
    timer = undefined;
    drawn.value = { events: head.peek(), timeline: timeline.peek() };
  };
  const end = effect(() => {
    const { events, timeline: before } = drawn.peek();
    const [newest, loaded] = [head.value, timeline.value];
    // A run that was opened, and a timeline that was loaded, are shown at once.
    if (newest < events || events === 0 || loaded.events < before.events || before.events === 0) take();
    else timer ??= setTimeout(take, drawMilliseconds);
  });
  return () => {
    clearTimeout(timer);
    end();
  };
}

function focusLineage() {
  areLanesOpen.value = true;
  // On a wide page the lanes are visible, and the next key is already theirs. A narrow one shows them in the next frame.
  if (!focusStop()) requestAnimationFrame(focusStop);
}

/** Focus the last stop that is not after what is shown. Returns whether it could take the focus. */
function focusStop() {
  const stops = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".stop-button[data-row='0']")]);
  const stop = stops.findLast((stop) => Number(stop.dataset.k) <= shown.value) ?? stops[0];
  stop?.focus();
  return document.activeElement === stop;
}

/** Whether something plays, whether this person may change that, and what the button is called that does. */
export function playing() {
  const isAtWork = isRewound.value ? isReplaying.value : status.value === "live" || status.value === "pausing";
  const canPlay = isRewound.value || isDirector.value || canReplay();
  const label = isAtWork ? "Pause" : isRewound.value ? "Replay from here" : canReplay() ? "Replay from the start" : "Play";
  return { isAtWork, canPlay, label };
}

function Transport() {
  moment.value;
  const { isAtWork, canPlay, label } = playing();
  return html`<div class="transport" onClick=${leaveToKeys}>
    <${IconButton} label="One event back" kbd="[" icon="stepBack" onClick=${() => void stepBy(-1)} isDisabled=${shown.value <= 1} />
    <${IconButton} label=${label} kbd="Space" icon=${isAtWork ? "pause" : "play"} kind="primary" onClick=${playOrPause} isDisabled=${!canPlay || !head.value} />
    <${IconButton} label="One event forward" kbd="]" icon="step" onClick=${() => void stepBy(1)} isDisabled=${!isRewound.value} />
    <span class="position mono"><b>${shown.value}</b><span> / ${drawn.value.events}</span></span>
    <${Speed} />
    <${Pace} />
    ${canSkip() ? html`<${Button} id="next-line" label="Next" kbd="Enter" onClick=${() => void skip()} />` : null}
    <p class="transport-words">${words()}</p>
    ${isRewound.value && source().kind === "server" ? html`<${Button} id="back-to-live" label="Back to live" kbd="End" onClick=${goLive} />` : null}
    ${canFinish() && !isRewound.value ? html`<${Button} id="finish" label="Finish" icon="stop" onClick=${() => openDialog("finish")} />` : null}
    ${canPlayOn() && !isRewound.value ? html`<${Button} id="play-on" label="Play on" icon="play" onClick=${() => void playOn()} />` : null}
    ${isDirector.value ? html`<${Button} id="branch-here" label="Branch from here" icon="branch" kbd="B" kind=${isRewound.value ? "primary" : "plain"} isDisabled=${!head.value} onClick=${() => openDialog("branch")} />` : null}
    <button type="button" class="button lanes-toggle" aria-expanded=${areLanesOpen.value} onClick=${() => (areLanesOpen.value = !areLanesOpen.value)}>${areLanesOpen.value ? "Close" : "Lanes"}</button>
  </div>`;
}

/** After a click Space is play and pause again, not the button that was clicked. @param {MouseEvent} event */
function leaveToKeys(event) {
  const button = event.target instanceof Element ? event.target.closest("button") : null;
  if (event.detail > 0) button?.blur();
}

/** Live, the speed of the run; rewound, the speed of the replay. */
function Speed() {
  if (isRewound.value || canReplay()) {
    const next = speeds[(speeds.indexOf(replaySpeed.value) + 1) % speeds.length];
    return html`<button type="button" class="chip mono" title="Speed of the replay" aria-label=${`${replaySpeed.value}x, the speed of the replay`} onClick=${() => (replaySpeed.value = next)}>${replaySpeed.value}x</button>`;
  }
  const speed = driver.value?.speed ?? "reading";
  if (!isDirector.value) return html`<span class="chip">${speed === "fast" ? "fast" : "reading pace"}</span>`;
  const other = speed === "fast" ? "reading" : "fast";
  return html`<button type="button" class="chip" disabled=${status.value !== "live"} title=${other === "fast" ? "Do not wait until a line is read" : "Wait until each line can be read"} onClick=${() => void play(other)}>${speed === "fast" ? "fast" : "reading pace"}</button>`;
}

/** How many of the newest events are searched for the line that is being read. */
const readRecordsMax = 200;

/** Whose line an event is, in words. @param {string} eventId */
export function speakerOf(eventId) {
  for (let k = head.value; k > Math.max(0, head.value - readRecordsMax); k -= 1) {
    const { id = "", row } = record(k) ?? {};
    if (row && id === eventId) return row.icon === "world" && row.actor === "world" ? "the scene" : row.icon === "visitor" ? "a visitor" : nameOf(harmless(row.actor), headView());
  }
  return "a line";
}

/** What the next act waits for while the run plays at the pace of a reader: a line that is read, or a model that thinks. */
function Pace() {
  if (isRewound.value || status.value !== "live") return null;
  const reading = driver.value?.reading;
  if (reading) {
    const { seconds, seconds_left: left, lines_after: more, event_id: line } = reading;
    const after = more ? html`<span class="pace-more">${more} more</span>` : null;
    return html`<span class="chip pace" title="The next act begins when this can have been read"><i class="pace-ring" style=${{ "--left": Math.min(1, left / seconds) }} aria-hidden="true"></i>
      <span class="pace-words">Reading ${speakerOf(line)}</span><span class="mono">${left} s</span>${after}</span>`;
  }
  const thinkers = Object.keys(thinking.value);
  if (!thinkers.length) return null;
  const [first] = thinkers;
  const name = nameOf(headView()?.creatures[first]?.handle ?? first, headView());
  return html`<span class="chip pace" title="The next line comes when its model has answered"><span aria-hidden="true">…</span><span class="pace-words">${harmless(name)} thinks</span>${thinkers.length > 1 ? html`<span class="pace-more">${thinkers.length - 1} more</span>` : null}</span>`;
}

function words() {
  if (!head.value) return "";
  if (status.value === "reconnecting") return "The stream is lost. What is here can be read and rewound.";
  if (source().kind === "file") return "Drag, or pick a moment. The address follows you.";
  if (isReplaying.value) return "The past is replayed at a reader’s pace. No model is called.";
  if (isRewound.value) return html`<span class="wide">Everything on screen is event ${shown.value}. </span>No model is called while you look back.`;
  if (status.value === "pausing") return "The act in flight ends first.";
  if (run()?.state === "finished") return html`${endingOf(run())} ${figuresOf(run())}<span class="wide"> Drag to rewind.</span>`;
  if (isRecorded.value) return "It came in a file, and had not ended there. Drag to rewind.";
  return "Every event is kept. Drag to rewind.";
}

/** How a run ended, in a sentence: the server's, as everywhere. @param {import("page/apply").Run|undefined} ended */
export const endingOf = (ended) => harmless(ended?.ending?.text ?? "");

/** What a run took, in a sentence. @param {import("page/apply").Run|undefined} ended */
function figuresOf(ended) {
  if (!ended) return "";
  const { turns, calls, tokens } = ended.spent;
  const counted = (/** @type {number} */ count, /** @type {string} */ noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
  return `It took ${counted(turns, "turn")}, ${counted(calls, "call")}, ${counted(tokens, "token")}.`;
}

function Tracks() {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const canvas = useRef(/** @type {HTMLCanvasElement|null} */ (null));
  const [width, setWidth] = useState(0);
  const [isUnfolded, setUnfolded] = useState(false);
  const [menu, setMenu] = useState(/** @type {any} */ (null));
  useLayoutEffect(() => {
    const element = /** @type {HTMLElement} */ (box.current);
    const watch = new ResizeObserver(() => setWidth(element.clientWidth));
    watch.observe(element);
    setWidth(element.clientWidth);
    return () => watch.disconnect();
  }, []);
  const newest = headView();
  const { events, timeline: timelineDrawn } = drawn.value;
  const isOver = newest?.runs[session.value.run]?.state === "finished";
  const room = roomFor(events, isOver);
  const axis = useMemo(() => axisOf(width, room, isOver), [width, room, isOver]);
  const version = lanesVersion.value;
  const others = forks.value;
  const lineage = useMemo(() => (newest && events ? lineageOf(newest, others, axis.events) : null), [newest, version, others, axis.events, events === 0]);
  const isHatched = timelineDrawn.events < 1 || loadedFrom.value > 1;
  useLayoutEffect(() => {
    if (canvas.current && width && lineage) drawBars(canvas.current, axis, timelineDrawn, lineage.colours);
  }, [axis, timelineDrawn, events, lineage, theme.value]);
  const handlers = useMemo(() => ({
    onFold: () => setUnfolded((was) => !was),
    onGo: (/** @type {number} */ k) => void seek(k),
    // A shared file has the names of branches, not the branches.
    onFork: (/** @type {any} */ fork, /** @type {any} */ at) => (source().kind === "file" ? void seek(fork.at) : setMenu({ fork, ...at })),
  }), []);
  return html`<div class=${`tracks${isRewound.value ? " is-rewound" : ""}${areLanesOpen.value ? " has-lanes" : ""}`} style=${{ "--head": `${axis.x(events)}px` }} ref=${box} ...${dragging(axis)}>
    ${!events && status.value === "loading" ? html`<div class="hatched" style=${{ left: "20px", right: "20px" }}></div>` : null}
    ${isHatched && events ? html`<div class="hatched" style=${{ left: `${axis.first - 4}px`, width: `${axis.x(loadedFrom.value) - axis.first + 4}px` }}></div>` : null}
    <canvas ref=${canvas} class="bars" style=${{ width: `${width}px` }} aria-hidden="true"></canvas>
    <div class="rule"></div>
    ${lineage ? html`<${Lanes} lineage=${lineage} axis=${axis} isOver=${isOver} isUnfolded=${isUnfolded} ending=${endingOf(newest?.runs[session.value.run])} ...${handlers} />` : null}
    <${Playhead} axis=${axis} />
    ${lineage ? html`<${WhyPath} lineage=${lineage} axis=${axis} />` : null}
    <${Hover} axis=${axis} />
    ${menu ? html`<${Menu} label=${menu.fork.title} x=${menu.x} y=${menu.y} onClose=${() => setMenu(null)} items=${[
      { label: "Open this branch", icon: "branch", run: () => void open(menu.fork.run, { isStep: true }) },
      { label: "Compare side by side", icon: "compare", run: () => compareWith(menu.fork.run) },
    ]} />` : null}
  </div>`;
}

/** The line through everything, its number, and the range that keyboards and screen readers use. @param {{axis: import("page/time/axis").Axis}} props */
function Playhead({ axis }) {
  const k = dragged.value ?? shown.value;
  if (!head.value) return null;
  const x = axis.x(Math.min(k, dragged.value === null && !isRewound.value ? drawn.value.events : k));
  const number = dragged.value === null && !isRewound.value ? head.value : k;
  const isRight = x > axis.width - 70;
  return html`<div class="beyond" style=${{ left: `${x}px` }}></div>
    <input type="range" class="range" min="1" max=${head.value} step="1" value=${k} aria-label="Event" aria-valuetext=${`event ${k} of ${head.value}`}
      onInput=${(/** @type {Event} */ event) => void seek(Number(/** @type {HTMLInputElement} */ (event.target).value))} onKeyDown=${rangeKeys} />
    <div class=${`playhead${isRight ? " is-right" : ""}`} style=${{ transform: `translateX(${x}px)` }} aria-hidden="true"><i></i><b class="mono">${number}</b></div>`;
}

/** Home and End are the page's own: End is live. @param {KeyboardEvent} event */
function rangeKeys(event) {
  const events = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
  if (events === undefined) return;
  event.preventDefault();
  void stepBy(events);
}

/** Which event the pointer is at, and where the tracks are on the screen. */
const hovered = signal(/** @type {{k: number, left: number, top: number}|null} */ (null));

/** @param {{axis: import("page/time/axis").Axis}} props */
function Hover({ axis }) {
  if (!hovered.value || dragged.value !== null || !head.value) return null;
  const { k, left, top } = hovered.value;
  const hoveredRecord = record(k);
  const scene = sceneAt(k);
  const x = axis.x(k);
  return html`<div class="hover-line" style=${{ left: `${x}px` }}></div>
    <div class="hover" style=${{ left: `${left + Math.max(8, Math.min(x - 20, axis.width - 308))}px`, bottom: `${innerHeight - top + 6}px` }} aria-hidden="true">
    <p><b class="mono">${k}</b>${scene ? html`<span>${harmless(scene)}</span>` : null}</p>
    ${hoveredRecord?.row.text ? html`<p class="hover-said"><b>${hoveredRecord.row.actor === "world" ? "" : nameOf(hoveredRecord.row.actor, headView())}</b> ${harmless(hoveredRecord.row.text.slice(0, 240))}</p>` : null}
  </div>`;
}

/** The title of the scene at an event, if its record is here. @param {number} k */
function sceneAt(k) {
  const mark = timeline.value.marks.findLast(([at, icon]) => at <= k && icon === "world");
  const op = mark && record(mark[0])?.d.find(([what, path]) => what === "s" && path[0] === "scene");
  return op ? String(op[2].title ?? "") : "";
}

/** What the pointer does on the tracks: drag to rewind. @param {import("page/time/axis").Axis} axis */
function dragging(axis) {
  /** @param {PointerEvent} event */
  const numberAt = (event) => Math.min(head.value, axis.k(event.clientX - /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect().left));
  return {
    onPointerDown: (/** @type {PointerEvent} */ event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      if (event.button !== 0 || target.closest("button, [role=menu]") || !head.value) return;
      const tracks = /** @type {HTMLElement} */ (event.currentTarget);
      tracks.setPointerCapture(event.pointerId);
      /** @type {HTMLElement|null} */ (tracks.querySelector(".range"))?.focus({ preventScroll: true });
      event.preventDefault();
      dragTo(numberAt(event));
    },
    onPointerMove: (/** @type {PointerEvent} */ event) => {
      if (dragged.value !== null) dragTo(numberAt(event));
      else if (/** @type {HTMLElement} */ (event.target).closest("button")) hovered.value = null;
      else {
        const { left, top } = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
        hovered.value = { k: numberAt(event), left, top };
      }
    },
    onPointerLeave: () => (hovered.value = null),
    onPointerUp: endDrag,
    onPointerCancel: endDrag,
  };
}

let isFrameAsked = false;

/** Follow the pointer, once a frame. @param {number} k */
function dragTo(k) {
  dragged.value = k;
  if (isFrameAsked) return;
  isFrameAsked = true;
  requestAnimationFrame(() => {
    isFrameAsked = false;
    if (dragged.value !== null) void seek(dragged.value);
  });
}

function endDrag() {
  const k = dragged.value;
  if (k === null) return;
  dragged.value = null;
  void seek(k);
}
