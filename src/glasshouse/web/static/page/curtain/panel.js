// @ts-check
/** The curtain: how the play ended, on which words that rests, what it revealed, and what could be played instead. */
import { html, useEffect, useRef } from "page/html";
import { colourOf, nameOf } from "page/apply";
import { linkTo } from "page/address";
import { graphColour } from "page/colours";
import { copy } from "page/copying";
import { Face } from "page/face";
import { useAnswer } from "page/feed/details";
import { numberHere } from "page/feed/numbers";
import { harmless } from "page/plain";
import { useScrolling } from "page/scrolling";
import { headView, isDirector, moment, openDialog, panel, seek, seekEvent, session, source } from "page/store";
import { announce } from "page/toast";
import { Button, IconButton } from "page/ui";
import { putCurtainAside, verdictTold } from "page/curtain/state";
import { OtherPlays, WhatIfs } from "page/curtain/what_ifs";
import { endWords, restsWords, wantsWords } from "page/curtain/words";

/** @typedef {import("page/curtain/words").Curtain} CurtainTold */
/** @typedef {import("page/curtain/words").Said} Said */

/** The runs whose end was announced: once is enough. @type {Set<string>} */
const announcedRuns = new Set();

export function Curtain() {
  moment.value;
  const { run: runId } = session.value;
  const { value, problem } = useAnswer(() => source().curtain(runId), [runId]);
  const told = /** @type {CurtainTold|undefined} */ (value);
  const words = useRef(/** @type {HTMLElement|null} */ (null));
  const scrolling = useScrolling(words, "How it ended");
  const now = headView();
  const ended = now?.runs[runId];
  useEffect(() => {
    if (!ended?.ending || announcedRuns.has(runId)) return;
    announcedRuns.add(runId);
    announce(`${endWords({ turns: ended.spent.turns, lines: ended.ending.lines })}. ${harmless(ended.ending.text)}`);
  }, [runId]);
  useEffect(() => void (verdictTold.value = told?.verdict?.event_id ?? ""), [told]);
  if (!now || !ended?.ending) return null;
  return html`<div class="curtain">
    <div class="curtain-words" ref=${words} ...${scrolling}>
      <p class="curtain-end">${endWords({ turns: ended.spent.turns, lines: ended.ending.lines })}</p>
      <h2 dir="auto">${harmless(ended.ending.text)}</h2>
      ${ended.reason === "budget" ? html`<${Limit} />` : null}
      ${problem ? html`<p class="empty">${problem}</p>` : null}
      ${told ? html`<${Told} told=${told} />` : problem ? null : html`<div class="skeleton" aria-hidden="true"></div>`}
    </div>
    <aside class="curtain-side" aria-label="What now">
      ${told?.what_ifs.length && !session.value.isGuest ? html`<${WhatIfs} told=${told} />` : null}
      <${Sharing} />
      ${isDirector.value && told && !session.value.isGuest ? html`<${OtherPlays} told=${told} />` : null}
    </aside>
    <span class="curtain-close"><${IconButton} label="Look at the stage" kbd="Esc" kind="quiet" icon="close" onClick=${putCurtainAside} /></span>
  </div>`;
}

/** @param {{told: CurtainTold}} props */
function Told({ told }) {
  const { verdict, why, rests_on: rests, last_line: last } = told;
  return html`${why ? html`<p class="curtain-why" dir="auto">${harmless(why)}</p>` : null}
    ${verdict ? html`<${Words} said=${verdict} what="the verdict" kind="verdict" />` : last ? html`<${Words} said=${last} what=${last.channel ? `the last line, in ${last.channel}` : "the last line"} kind="verdict is-line" />` : null}
    ${verdict && rests.length
      ? html`<div class="curtain-head"><h3>${restsWords(rests.length)}</h3><button type="button" class="text-button" onClick=${() => (panel.value = `why:${verdict.event_id}`)}>Why this verdict <kbd aria-hidden="true">W</kbd></button></div>
          ${rests.map((said) => html`<${Words} key=${said.event_id} said=${said} what=${said.channel ? `in ${said.channel}` : ""} kind="cited" />`)}`
      : null}
    ${told.revealed.length ? html`<${RevealedFacts} told=${told} />` : null}
    <${LastWords} told=${told} />`;
}

/** A line, whole, with the face of whoever said it. @param {{said: Said, what: string, kind: string}} props */
function Words({ said, what, kind }) {
  const now = /** @type {import("page/apply").View} */ (headView());
  const creature = now.creatures[said.creature];
  const k = numberHere(said.event_id);
  const size = kind.startsWith("verdict") ? 34 : 28;
  return html`<div class=${`curtain-line is-${kind}`}>
    <${Portrait} creature=${said.creature} who=${said.who} size=${size} />
    <div><p class="curtain-who"><b dir="auto">${harmless(nameOf(said.who, now))}</b><span dir="auto">${what}</span><${Number} k=${k} eventId=${said.event_id} /></p>
      <p class="line" dir="auto">${harmless(said.text)}</p>
      ${kind === "verdict" && !creature ? html`<p class="curtain-note">It has left since.</p>` : null}</div>
  </div>`;
}

/** The number of an event, which goes there. @param {{k: number, eventId?: string}} props */
function Number({ k, eventId }) {
  if (!k && !eventId) return null;
  return html`<button type="button" class="curtain-number" aria-label=${k ? `Rewind to event ${k}` : "Rewind to this line"} title="Rewind here" onClick=${() => void (k ? seek(k) : seekEvent(/** @type {string} */ (eventId)))}>${k || "…"}</button>`;
}

/** @param {{creature: string, who: string, size: number}} props */
function Portrait({ creature, who, size }) {
  const now = /** @type {import("page/apply").View} */ (headView());
  const known = now.creatures[creature];
  return html`<${Face} id=${who} colour=${graphColour(known ? colourOf(now, known.graph) : 0)} size=${size} hasCrown=${known?.is_privileged ?? false} isJudge=${known?.role === "judge"} isDim=${!known} />`;
}

/** @param {{told: CurtainTold}} props */
function RevealedFacts({ told }) {
  const now = headView() ?? undefined;
  return html`<h3 class="curtain-title">${told.revealed.length === 1 ? "A sealed fact, opened" : "Sealed facts, opened"}</h3>
    <ul class="curtain-facts" aria-label="Sealed facts, opened">
      ${told.revealed.map(({ creature, who, fact, text }) => html`<li key=${`${creature} ${fact}`}><${Portrait} creature=${creature} who=${who} size=${24} />
        <span><b dir="auto">${harmless(nameOf(who, now))}</b> held the ${harmless(fact)}</span><span class="curtain-fact" dir="auto">${harmless(text)}</span></li>`)}
    </ul>`;
}

/** What everybody wanted beside what they said last; not that it came true. @param {{told: CurtainTold}} props */
function LastWords({ told }) {
  const now = headView() ?? undefined;
  const above = told.verdict ?? told.last_line;
  if (!told.last_words.length) return null;
  const hasWants = told.last_words.some(({ wants }) => wants);
  const more = told.creatures_count - told.last_words.length;
  const sealed = told.revealed.length ? "" : told.has_sealed ? "What was sealed stays sealed." : "Nothing was sealed in this world.";
  return html`<div class="curtain-head"><h3>${hasWants ? "What they wanted, and their last word" : "Their last words"}</h3><span>${sealed}</span></div>
    <ul class="curtain-last" aria-label="Last words">
      ${told.last_words.map(({ creature, who, n, text, wants }) => html`<li key=${creature} class="curtain-line"><${Portrait} creature=${creature} who=${who} size=${24} />
        <div><p class="curtain-who"><b dir="auto">${harmless(nameOf(who, now))}</b>${wants ? html`<span dir="auto" title=${harmless(wants)}>${harmless(wantsWords(wants))}</span>` : html`<span></span>`}<${Number} k=${n} /></p>
          ${above?.creature === creature && numberHere(above.event_id) === n ? html`<p class="curtain-note">Its last word stands above.</p>` : html`<p class="line" dir="auto">${harmless(text)}</p>`}</div></li>`)}
    </ul>
    ${more > 0 ? html`<p class="curtain-note">and ${more.toLocaleString("en")} more</p>` : null}`;
}

/** What a director can do about a limit that stopped the run. */
function Limit() {
  if (!isDirector.value || session.value.isGuest) return null;
  return html`<p class="curtain-limit"><span>The run is over, and its limits never change. It can be played on in a branch.</span>
    <${Button} label="Raise limit" onClick=${() => openDialog("purse", { isRaising: true })} />
    <${Button} label="Branch from here" icon="branch" kbd="B" onClick=${() => openDialog("branch")} /></p>`;
}

function Sharing() {
  return html`<section aria-label="Share"><h3>Share</h3><p>One file with every line, the graph and the timeline. It opens anywhere.</p>
    <div class="curtain-buttons"><${Button} label="Share this play" icon="share" kind="primary" onClick=${() => openDialog("share")} />
      <${Button} label="Copy link" icon="link" onClick=${() => void copy(linkTo({ run: session.value.run, at: undefined, panel: undefined }), "The link to this play is copied.")} /></div></section>`;
}
