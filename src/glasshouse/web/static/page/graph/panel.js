// @ts-check
/** The graph: who is there, who hears whom, and how that changes. */
import { effect, signal } from "@preact/signals";
import { html, useEffect, useLayoutEffect, useRef } from "page/html";
import { isStill } from "page/address";
import { face } from "page/centre/faces";
import { FaceSwitch } from "page/centre/switch";
import { theme } from "page/colours";
import { form } from "page/form";
import { bandIn } from "page/graph/bubble_places";
import { Bubbles } from "page/graph/bubbles";
import { canEdit } from "page/graph/changes";
import { Menus, Tip } from "page/graph/overlay";
import { makePicture } from "page/graph/picture";
import { listenToPointer } from "page/graph/pointer";
import { counted, summaryOf } from "page/graph/summary";
import { ScreenReaderTree } from "page/graph/screen_reader_tree";
import { register } from "page/keys";
import { isDirector, isReplaying, isRewound, moment, onRecord, openDialog, panel, selection, session, status, thinking, view } from "page/store";
import { Button, IconButton } from "page/ui";
import { path } from "page/why/path";

const edge = { left: 26, top: 62, right: 26, bottom: 48 };
/** Beside the script the graph is small and has nothing but a button over it. */
const smallEdge = { left: 34, top: 28, right: 48, bottom: 14 };
/** Between the band of the newest line and the graphs below it. */
const belowBand = 16;
const zoomStep = 1.25;
const narrowPixels = 640;
const blinkMilliseconds = 2600;

/** Whether the graph stands beside another face: without names, lines and controls. */
const isSmall = () => form.value === "wide" && face.value === "script";

/** The part of the canvas that nothing covers: below the band of the newest line, which is not there while a why is shown or the page is low. @param {HTMLElement} box */
function roomIn(box) {
  if (isSmall()) return { left: smallEdge.left, top: smallEdge.top, right: Math.max(160, box.clientWidth - smallEdge.right), bottom: box.clientHeight - smallEdge.bottom };
  const why = document.querySelector(".at-why");
  const top = why || form.value === "low" ? edge.top : bandIn(box.clientHeight).bottom + belowBand;
  const covered = why ? Math.max(0, box.getBoundingClientRect().right - why.getBoundingClientRect().left) : 0;
  return { left: edge.left, top, right: Math.max(160, box.clientWidth - edge.right - covered), bottom: box.clientHeight - edge.bottom };
}

/** The picture that is shown, for tests and for what lies over it. @type {import("@preact/signals").Signal<ReturnType<typeof makePicture>|null>} */
export const picture = signal(null);

/** Only directors change the graph. */
const isFor = () => isDirector.value;

export function Graph() {
  const box = useRef(/** @type {HTMLDivElement|null} */ (null));
  const canvas = useRef(/** @type {HTMLCanvasElement|null} */ (null));
  useLayoutEffect(() => {
    if (!box.current || !canvas.current) return undefined;
    return follow(box.current, canvas.current);
  }, []);
  useEffect(() => {
    const ends = [
      register({ id: "fit", key: "0", label: "Fit the graph", group: "Graph", run: () => picture.value?.fit() }),
      register({ id: "zoom-in", key: "+ =", label: "Zoom in", group: "Graph", run: () => zoom(zoomStep) }),
      register({ id: "zoom-out", key: "-", label: "Zoom out", group: "Graph", run: () => zoom(1 / zoomStep) }),
      register({ id: "spawn", key: "N", label: "Spawn a creature", group: "Graph", isFor, when: canEdit, run: () => openDialog("spawn") }),
      register({ id: "connect", key: "C", label: "Connect", group: "Graph", isFor, when: canEdit, run: () => openDialog("connect") }),
      register({ id: "disconnect", key: "X", label: "Disconnect or remove", group: "Graph", isFor, when: canEdit, run: () => openDialog("disconnect") }),
    ];
    return () => ends.forEach((end) => end());
  }, []);
  moment.value;
  const now = view();
  return html`<div class="graph" ref=${box}>
    <canvas ref=${canvas} class="graph-canvas" role="img" aria-label=${now ? summaryOf(now) : "No graph yet"}></canvas>
    ${now && !Object.keys(now.creatures).length ? html`<p class="graph-empty">Nobody is here${now.k ? " at this moment" : " yet"}.</p>` : null}
    ${face.value === "graph" ? html`<${Bubbles} picture=${picture.value} /><div class="graph-head"><${FaceSwitch} /></div>` : null}
    <div class="graph-actions">
      ${canEdit() && !isSmall() ? html`<${Button} label="Spawn" icon="plus" kbd="N" onClick=${() => openDialog("spawn")} /><${Button} label="Connect" icon="arrow" kbd="C" onClick=${() => openDialog("connect")} />` : null}
      <${IconButton} label="Fit" icon="fit" kbd="0" onClick=${() => picture.value?.fit()} />
    </div>
    ${isSmall() ? null : html`<div class="graph-foot"><${Legend} /><${Counts} /></div>`}
    <${ScreenReaderTree} picture=${picture.value} />
    <${Tip} />
    <${Menus} fit=${() => picture.value?.fit()} />
  </div>`;
}

/** @param {number} factor */
function zoom(factor) {
  picture.value?.lens.zoom(factor);
  picture.value?.wake();
}

/** Keep a picture in step with the page, from now until it ends. @param {HTMLDivElement} box @param {HTMLCanvasElement} canvas */
function follow(box, canvas) {
  const made = makePicture(canvas, { isStill });
  const resize = () => {
    box.classList.toggle("is-narrow", box.clientWidth < narrowPixels);
    made.resize(box.clientWidth, box.clientHeight, roomIn(box));
  };
  let [lastRun, lastK, wasRewound] = ["", 0, false];
  /** The camera as it was before a panel covered the graph. @type {typeof made.lens.camera|null} */
  let cameraBefore = null;
  const ends = [
    effect(() => {
      moment.value;
      const now = view();
      if (!now) return;
      const isSame = lastRun === session.value.run;
      const isNext = isSame && now.k >= lastK && (isReplaying.value || (!isRewound.value && !wasRewound));
      made.show(now, { isNext, isNew: !isSame });
      [lastRun, lastK, wasRewound] = [session.value.run, now.k, isRewound.value];
    }),
    effect(() => {
      const chosen = selection.value;
      made.shown.selected = chosen && chosen.kind !== "event" ? chosen.id : "";
      made.shown.thinking = isRewound.value ? {} : thinking.value;
      made.wake();
    }),
    effect(() => {
      theme.value;
      made.recolour();
    }),
    effect(() => {
      made.shown.isNameless = isSmall();
      made.lens.follow();
      requestAnimationFrame(resize); // The graph has its new size by then.
    }),
    effect(() => {
      const isCovered = panel.value.startsWith("why:");
      if (isCovered && !cameraBefore) {
        cameraBefore = { ...made.lens.camera };
        made.lens.follow();
      } else if (!isCovered && cameraBefore) {
        if (cameraBefore.isFree) Object.assign(made.lens.camera, cameraBefore);
        cameraBefore = null;
      }
      requestAnimationFrame(resize); // The panel that covers the graph is drawn by then.
    }),
    effect(() => {
      // Each link leads to one with a smaller number; several lead to a verdict: the lines that it cites.
      const links = path.value?.links ?? [];
      made.shown.path = links.flatMap(({ n, actor, isDisturbance }) => {
        const before = links.filter(({ to }) => to === n);
        return (before.length ? before : [undefined]).map((cause) => ({ creature: actor, number: n, from: cause?.actor, isDisturbance }));
      });
      made.wake();
    }),
    effect(() => (status.value === "live" && !isStill ? blinkNowAndThen(made) : undefined)),
    listenToPointer(canvas, made),
    onRecord((record, view) => made.tell(record, view)),
  ];
  const sizes = new ResizeObserver(resize);
  sizes.observe(box);
  picture.value = made;
  Object.assign(/** @type {any} */ (globalThis).glasshouse ?? {}, { graph: twinFor(made) });
  return () => {
    sizes.disconnect();
    for (const end of ends) end();
    made.end();
    picture.value = null;
  };
}

/** Let somebody blink every few seconds while the show goes on. Returns what ends that. @param {ReturnType<typeof makePicture>} made */
function blinkNowAndThen(made) {
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  const next = () => {
    timer = setTimeout(() => {
      const creatures = [...made.layout.nodes.values()].filter(({ kind }) => kind === "creature");
      made.blink(creatures[Math.floor(Math.random() * creatures.length)]?.id ?? "");
      next();
    }, blinkMilliseconds * (0.5 + Math.random()));
  };
  next();
  return () => clearTimeout(timer);
}

/** What tests read. @param {ReturnType<typeof makePicture>} made */
const twinFor = (made) => ({
  frames: made.frames,
  members: () => Object.fromEntries([...made.layout.circles.values()].map(({ id, nodes }) => [id, nodes.filter(({ kind }) => kind === "creature").map(({ id }) => id).sort()])),
  /** Where everything stands on the canvas. */
  positions: () => Object.fromEntries([...made.layout.nodes.values()].map((node) => [node.id, made.lens.toCanvas(node)])),
  isMoving: made.layout.isMoving,
  picture: made,
});

function Counts() {
  moment.value;
  const now = view();
  if (!now) return null;
  return html`<p class="graph-counts">${counted(Object.keys(now.graphs).length, "graph")}, ${counted(Object.keys(now.creatures).length, "creature")}</p>`;
}

function Legend() {
  moment.value;
  const now = view();
  if (!now) return null;
  const creatures = Object.values(now.creatures);
  if (path.value?.links.length) {
    return html`<div class="graph-legend" aria-hidden="true">
      <span><svg width="22" height="10" viewBox="0 0 22 10"><path d="M1 5H15M14 1l7 4-7 4z" class="legend-led" /></svg>led to</span>
      ${path.value.links.some(({ isDisturbance }) => isDisturbance) ? html`<span><svg width="22" height="10" viewBox="0 0 22 10"><path d="M1 5H15M14 1l7 4-7 4z" class="legend-disturbance" /></svg>disturbance</span>` : null}
      <span>dimmed: had no part in it</span>
    </div>`;
  }
  return html`<div class="graph-legend" aria-hidden="true">
    <span><svg width="14" height="14" viewBox="0 0 14 14"><rect x="3.2" y="3.2" width="7.6" height="7.6" rx="1.6" transform="rotate(45 7 7)" fill="none" stroke="currentColor" stroke-width="1.5" /></svg>channel</span>
    ${Object.keys(now.wires).length ? html`<span><svg width="20" height="6" viewBox="0 0 20 6"><path d="M1 3H20" class="legend-wire" /></svg>output wire</span>` : null}
    ${creatures.some(({ is_privileged }) => is_privileged) ? html`<span><svg width="16" height="14" viewBox="-8 -11 16 14"><path d="M-6.5 2L-7.2-6.5L-3.4-2.5L0-9L3.4-2.5L7.2-6.5L6.5 2z" class="legend-crown" /></svg>privileged</span>` : null}
    ${creatures.some(({ role }) => role === "judge") ? html`<span><svg width="16" height="14" viewBox="-8 -7 16 14"><path d="M0-5.5V5.5M-3 5.5H3M-5-3.5H5M-5-3.5L-7 1H-3zM5-3.5L3 1H7z" class="legend-judge" /></svg>judge</span>` : null}
  </div>`;
}
