// @ts-check
/** How a play ended, inside the stage and never over it: the verdict, or which limit was reached and what can be done. */
import { html, useRef } from "page/html";
import { isCurtainDown, showCurtain } from "page/curtain/state";
import { Face } from "page/face";
import { goLive, isDirector, moment, openDialog, panel, record, run, seek, view } from "page/store";
import { limitWords } from "page/limits";
import { harmless } from "page/plain";
import { useScrolling } from "page/scrolling";

/** Why a run is paused that a program has just paused: no news. */
const askedFor = "asked to";

export function Ending() {
  moment.value;
  const ended = run();
  if (!ended || isCurtainDown.value) return null;
  if (ended.state === "finished" && ended.reason !== "budget") return html`<${Verdict} ended=${ended} />`;
  return ended.axis ? Limit(ended) : ended.state === "paused" && ended.reason && ended.reason !== askedFor ? Pause(ended) : null;
}

/** The creatures that won: one, or a team. @param {string} winner @returns {string[]} */
function winners(winner) {
  const { creatures = {}, contest } = view() ?? {};
  const team = contest?.teams[winner];
  const handles = new Set(team ?? [winner]);
  return Object.keys(creatures).filter((id) => handles.has(creatures[id].handle) || handles.has(id));
}

/** @param {{ended: import("page/apply").Run}} props */
function Verdict({ ended }) {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const scrolling = useScrolling(box, "How it ended");
  const { creatures, graphs, contest } = /** @type {import("page/apply").View} */ (view());
  const won = ended.winner ? winners(ended.winner) : [];
  const verdict = contest.verdicts.at(-1);
  const text = ended.why || verdict?.text || "";
  return html`<div class="verdict" ref=${box} role="group" aria-label="How it ended" tabIndex=${scrolling.tabIndex}>
    ${won.length ? html`<span class="winners">${won.slice(0, 3).map((id) => html`<${Face} id=${creatures[id].handle} colour=${`var(--g${(graphs[creatures[id].graph]?.colour ?? 0) % 8})`} size=${30} />`)}</span>` : null}
    <div class="verdict-words">
      <b dir="auto">${harmless(ended.ending?.text ?? "")}</b>
      ${text ? html`<p class="line" dir="auto">${harmless(text)}</p>` : null}
      ${ended.full_turns ? html`<p>${fullTurns(ended)}</p>` : null}
      <p class="verdict-links">${verdict ? html`<button type="button" class="text-button" onClick=${() => seek(verdict.n)}>Go to event ${verdict.n}</button>${Why(verdict.n)}` : null}<${TheEnd} /></p>
    </div>
  </div>`;
}

/** @param {number} k */
function Why(k) {
  const id = record(k)?.id;
  return id ? html` <button type="button" class="text-button" onClick=${() => (panel.value = `why:${id}`)}>Why?</button>` : null;
}

/** The way back to the curtain. */
function TheEnd() {
  return html`<button type="button" class="text-button" onClick=${() => (goLive(), showCurtain())}>Show the end</button>`;
}

/** How many turns had no calls left for what was still owed. @param {import("page/apply").Run} ended */
const fullTurns = ({ full_turns: full, spent }) => (full ? ` ${full} of ${spent.turns} turns were full.` : "");

/** @param {import("page/apply").Run} ended */
function Limit(ended) {
  const canDirect = isDirector.value;
  return html`<div class="verdict is-limit" role="group" aria-label="Why it stopped">
    <div class="verdict-words">
      <b>${ended.ending?.text ?? `Stopped: ${limitWords(ended.axis)}`}</b>
      <p>${ended.state === "paused" ? "The run continues when the limit allows it." : canDirect ? "The run is over. Branch it to play on." : "The run is over."}${fullTurns(ended)}</p>
      ${canDirect ? html`<p class="verdict-buttons">
        <button type="button" class="button small" onClick=${() => openDialog("purse", { isRaising: true })}>Raise limit</button>
        <button type="button" class="button small" onClick=${() => openDialog("branch")}>Branch from here</button></p>` : null}
      ${ended.ending ? html`<p class="verdict-links"><${TheEnd} /></p>` : null}
    </div>
  </div>`;
}

/** @param {import("page/apply").Run} paused */
function Pause(paused) {
  return html`<div class="verdict is-pause" role="group" aria-label="Why it is paused"><div class="verdict-words"><b>Paused</b><p dir="auto">${harmless(paused.reason ?? "")}</p></div></div>`;
}
