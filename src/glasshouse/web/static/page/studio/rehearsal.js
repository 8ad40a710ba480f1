// @ts-check
/** The rehearsal: what the offline troupe says to the texts as they are now, and where that begins to differ from the rehearsal before. */
import { html, useEffect, useRef } from "page/html";
import { Face } from "page/face";
import { icon } from "page/icons";
import { harmless } from "page/plain";
import { Button, IconButton } from "page/ui";
import { titled } from "page/studio/texts";

/**
 * @typedef {{k: number, id: string, turn: number, voice: string, who: string, kind: string, channel: string|null, text: string, is_kept: boolean, has_prompt: boolean}} Line
 * @typedef {{id: string, title: string, seed: string, rng_seed: number, turns: number, calls: number, new_calls: number, events: number, differs_at: number|null, is_over: boolean, lines: Line[]}} RehearsalInfo
 */

/**
 * @param {{rehearsal: RehearsalInfo|null, held: string, isPlaying: boolean, problem: string, at: number, cast: string[], onGo: (line: number) => void,
 *   onOtherSeed: () => void, onFromStart: () => void, onPrompt: (line: number) => void}} props
 */
export function RehearsalPanel({ rehearsal, held, isPlaying, problem, at, cast, onGo, onOtherSeed, onFromStart, onPrompt }) {
  const list = useRef(/** @type {HTMLElement|null} */ (null));
  const lines = rehearsal?.lines ?? [];
  const differs = rehearsal?.differs_at ?? null;
  const state = held ? "Held" : isPlaying ? "Playing" : rehearsal ? (rehearsal.is_over ? "Ended" : `${rehearsal.turns} turns`) : "None yet";
  useEffect(() => {
    list.current?.querySelector(".is-now")?.scrollIntoView({ block: "nearest" });
  }, [at, rehearsal?.id]);
  const now = lines[at];
  const isSomebodys = (/** @type {Line} */ line) => line.has_prompt || cast.includes(line.who);
  return html`<section class="panel studio-rehearsal" aria-label="Rehearsal">
    <header class="panel-head"><h2 class="panel-title">Rehearsal</h2><span class=${`pill${held ? " is-gold" : ""}`} role="status">${state}</span><span class="spacer"></span>
      <${Button} label="Other seed" onClick=${onOtherSeed} isDisabled=${Boolean(held) || isPlaying} /><${Button} label="From the start" title="Rehearse everything anew, without the record" onClick=${onFromStart} isDisabled=${Boolean(held) || isPlaying} /></header>
    <div class="studio-cast" aria-hidden="true">${cast.map((handle) => html`<span class=${now?.who === handle ? "is-now" : ""}><${Face} id=${handle} colour="var(--g0)" size=${34} /><b>${titled(handle)}</b></span>`)}</div>
    ${held || problem ? html`<p class="studio-held" role="alert">${icon(problem ? "error" : "pause")}<span>${problem || held}</span></p>` : null}
    <div class="studio-lines" ref=${list} tabindex="0" role="group" aria-label="Lines of the rehearsal">
      ${lines.length ? null : html`<p class="empty">${isPlaying ? "The troupe reads your text…" : "Nothing has been said yet."}</p>`}
      ${lines.map((line, index) => html`${index === differs ? html`<p class="studio-differs"><span>${icon("branch", 14)}Replayed from event ${line.k} after your edit</span></p>` : null}
        <div key=${line.id} class=${`studio-line is-${line.voice}${index === at ? " is-now" : ""}${differs !== null && index < differs ? " is-kept" : ""}`}>
          ${isSomebodys(line) ? html`<${Face} id=${line.who} colour="var(--g0)" size=${26} />` : html`<span class="said-icon">${icon(line.voice === "world" ? "world" : "line", 16)}</span>`}
          <div><p class="studio-who"><b>${isSomebodys(line) ? titled(line.who) : "Scene"}</b><span>${line.channel ? `#${line.channel}` : line.voice === "world" ? "world" : ""}</span>
            ${line.has_prompt ? html`<button type="button" class="text-button" aria-label=${`Prompt of ${titled(line.who)}, event ${line.k}`} onClick=${() => onPrompt(index)}>Prompt</button>` : null}<i class="mono">${line.k}</i></p>
            <p class="studio-said" dir="auto">${harmless(line.text)}</p></div>
        </div>`)}
    </div>
    ${lines.length && rehearsal ? html`<footer class="studio-time">
      <${IconButton} label="First line" icon="stepBack" onClick=${() => onGo(0)} isDisabled=${at <= 0} />
      <input type="range" min="0" max=${lines.length - 1} value=${at} aria-label="Line of the rehearsal" aria-valuetext=${now ? `event ${now.k}, ${titled(now.who)}` : ""} onInput=${(/** @type {any} */ event) => onGo(Number(event.target.value))} />
      <${IconButton} label="Last line" icon="step" onClick=${() => onGo(lines.length - 1)} isDisabled=${at >= lines.length - 1} />
      <small class="mono">${now?.k ?? 0} / ${rehearsal.events}</small>
      <small>${rehearsal.calls - rehearsal.new_calls} kept, ${rehearsal.new_calls} new</small></footer>` : null}
  </section>`;
}
