// @ts-check
/** The stage: the scene, how the play ended, and the cast. */
import { html, useEffect, useRef } from "page/html";
import { harmless } from "page/plain";
import { announce } from "page/toast";
import { canReadMinds, isRewound, isSpeech, minds, moment, onRecord, run, shown, status, toggleMinds, view } from "page/store";
import { Cast, noteSpeaker } from "page/stage/cast";
import { Ending } from "page/stage/ending";
import { Proposals } from "page/stage/proposals";
import { Part } from "page/on_demand";
import { useScrolling } from "page/scrolling";

const marks = new Set(["merge", "split"]);

/** Whether a tool of some creature is withheld. @param {import("page/apply").View} view */
export const hasWithheld = ({ creatures }) => Object.values(creatures).some(({ withheld }) => withheld !== undefined);

export function Stage() {
  moment.value;
  useEffect(() => onRecord(noteRecord), []);
  const shownView = view();
  const { creatures = {} } = shownView ?? {};
  const count = Object.keys(creatures).length;
  if (!shownView) return html`<${NoScene} /><${Skeletons} />`;
  return html`<${Scene} scene=${shownView.scene} key=${shownView.scene.n ?? 0} />
    <${Ending} />
    <${Proposals} />
    ${hasWithheld(shownView) ? html`<${Part} name="withheld" />` : null}
    <div class="cast-head">
      <h2 class="panel-title">Cast<span class="count">${count}</span></h2>
      ${canReadMinds() ? html`<button type="button" class="button small" aria-pressed=${minds.value} onClick=${toggleMinds}>
        <span>${minds.value ? "Hide minds" : "Read minds"}</span><kbd aria-hidden="true">T</kbd></button>` : null}
    </div>
    ${count ? html`<${Cast} />` : html`<p class="empty">Nobody is on stage${isRewound.value ? " at this moment" : " yet"}.</p>`}`;
}

/** Announce what changes the play, and note who speaks. @param {import("page/apply").Record} record @param {import("page/apply").View} shownView */
export function noteRecord(record, shownView) {
  const { icon, text = "" } = record.row;
  if (isSpeech(record)) noteSpeaker(record);
  if (icon === "world" && shownView.scene.n === record.k) announce(`Scene: ${shownView.scene.title || text}`);
  else if (marks.has(icon)) announce(text);
  else if (icon === "judge" && shownView.contest.verdicts.at(-1)?.n === record.k) announce(`Verdict: ${text}`);
}

/** The scene, whole. It scrolls only where the cast needs the rest of the stage. @param {{scene: {title?: string, text?: string}}} props */
function Scene({ scene }) {
  moment.value;
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const scrolling = useScrolling(box, "Scene");
  const title = harmless(scene.title || run()?.title || "");
  const text = harmless(scene.text || run()?.seed || "");
  return html`<div class="scene" ref=${box} ...${scrolling}>
    <p class=${`scene-label${isRewound.value ? " is-past" : ""}`}>${labelOf()}</p>
    <h2 class="scene-title" dir="auto">${title}</h2>
    ${text ? html`<p class="scene-text" dir="auto">${text}</p>` : null}
  </div>`;
}

function labelOf() {
  if (isRewound.value) return `At event ${shown.value}`;
  const { state, reason } = run() ?? {};
  if (state === "finished") return reason === "budget" || reason === "stopped" ? "Stopped" : "Played to the end";
  return status.value === "paused" ? "Paused" : "Now playing";
}

function NoScene() {
  const isComing = status.value === "loading" || status.value === "reconnecting";
  if (isComing) return html`<div class="scene is-coming" aria-busy="true"><span class="hidden">The run is being opened.</span><i class="skeleton label"></i><i class="skeleton title"></i><i class="skeleton text"></i></div>`;
  return html`<div class="scene"><p class="scene-label">Curtain down</p><h2 class="scene-title" dir="auto">Nothing plays yet</h2></div>`;
}

/** What stands where cards will be. It is not seen in the first 300 ms: most runs are there by then. */
function Skeletons() {
  if (status.value !== "loading") return null;
  return html`<div class="cast-head"><h2 class="panel-title">Cast</h2></div>
    <div class="cast is-coming" aria-hidden="true">
      ${[0, 1, 2, 3].map(() => html`<div class="card"><div class="side"><i class="skeleton round"></i><i class="skeleton name"></i><i class="skeleton words"></i><i class="skeleton words less"></i></div></div>`)}
    </div>`;
}
