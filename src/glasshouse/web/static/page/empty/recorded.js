// @ts-check
/**
 * A recording that plays once: a view and the records behind it, each at its second.
 *
 * Always holds: it asks the server for nothing. Where motion is not wanted it stands still, at its end, where the graphs have met.
 */
import { html, useEffect, useMemo, useState } from "page/html";
import { isStill } from "page/address";
import { apply, cloneView, nameOf } from "page/apply";
import { Face } from "page/face";
import { graphName } from "page/graph/summary";
import { StaticGraph } from "page/graph/static_graph";
import { harmless } from "page/plain";
import { IconButton } from "page/ui";

/** @typedef {{seconds: number, view: import("page/apply").View, records: (import("page/apply").Record & {at: number})[]}} Recording */

const tickMilliseconds = 100;
const ringRadius = 7;

/** The view of a recording after some seconds. @param {Recording} recording @param {number} seconds */
export function viewAfter(recording, seconds) {
  const view = cloneView(recording.view);
  for (const record of recording.records) if (record.at <= seconds) apply(view, record);
  return view;
}

/** Who said the newest line of a view. @param {import("page/apply").View} view */
const speakerOf = (view) => Object.entries(view.creatures).reduce((/** @type {[string, import("page/apply").Creature]|null} */ newest, entry) => ((entry[1].line?.n ?? 0) > (newest?.[1].line?.n ?? 0) ? entry : newest), null);

/** @param {{recording: Recording}} props */
export function Recorded({ recording }) {
  const isCalm = useMemo(() => isStill || matchMedia("(prefers-reduced-motion: reduce)").matches, []);
  const [seconds, setSeconds] = useState(isCalm ? recording.seconds : 0);
  const [isPlaying, setPlaying] = useState(!isCalm);
  const isOver = seconds >= recording.seconds;
  useEffect(() => {
    if (!isPlaying || isOver) return undefined;
    const timer = setInterval(() => document.hidden || setSeconds((before) => Math.min(recording.seconds, before + tickMilliseconds / 1000)), tickMilliseconds);
    return () => clearInterval(timer);
  }, [isPlaying, isOver, recording]);
  const count = recording.records.filter(({ at }) => at <= seconds).length;
  const view = useMemo(() => viewAfter(recording, seconds), [recording, count]);
  const speaker = speakerOf(view);
  const merge = recording.records.findLast(({ at, row }) => at <= seconds && row.icon === "merge");
  const words = merge ? `Recorded: ${harmless(merge.row.text ?? "")}, event ${merge.k}` : `Recorded: event ${view.k}`;
  const press = () => {
    if (isOver) setSeconds(0);
    setPlaying(isOver || !isPlaying);
  };
  return html`<div class="recorded">
    <div class="recorded-graph"><${StaticGraph} view=${view} isStatic=${isCalm} margin=${26} label="A recorded play: graphs of creatures that become one" /></div>
    ${speaker?.[1].line ? html`<${Bubble} view=${view} id=${speaker[0]} creature=${speaker[1]} />` : null}
    <p class="recorded-foot">${isCalm ? null : html`<${IconButton} label=${isOver ? "Play the recording again" : isPlaying ? "Pause the recording" : "Go on with the recording"} icon=${isOver ? "turn" : isPlaying ? "pause" : "play"} onClick=${press} />`}
      <span>${words}</span>${isCalm ? null : html`<${Ring} share=${seconds / recording.seconds} />`}</p>
  </div>`;
}

/** @param {{view: import("page/apply").View, id: string, creature: import("page/apply").Creature}} props */
function Bubble({ view, id, creature }) {
  const graph = view.graphs[creature.graph];
  return html`<blockquote class=${`recorded-line of-${graph?.colour % 8}`} key=${creature.line?.n}>
    <header><${Face} id=${id} colour=${`var(--g${graph?.colour % 8})`} size=${20} isOpen /><b>${nameOf(creature.handle, view)}</b><span>in ${graph ? graphName(graph) : ""}</span><small class="mono">${creature.line?.n}</small></header>
    <p>${creature.line?.text}</p>
  </blockquote>`;
}

/** @param {{share: number}} props */
function Ring({ share }) {
  const round = 2 * Math.PI * ringRadius;
  return html`<svg class="recorded-ring" width="18" height="18" viewBox="-9 -9 18 18" aria-hidden="true"><circle r=${ringRadius} /><circle r=${ringRadius} transform="rotate(-90)" stroke-dasharray=${round} stroke-dashoffset=${round * (1 - share)} /></svg>`;
}
