// @ts-check
/** What a creature's model was asked in the rehearsal, by sections, with about how many tokens each has. */
import { html, useEffect, useState } from "page/html";
import { harmless } from "page/plain";
import { source } from "page/store";
import { IconButton, short } from "page/ui";
import { titled } from "page/studio/texts";

/**
 * @typedef {{heading: string, text: string, tokens: number}} Section
 * @typedef {{event_id: string, profile: string, sections: Section[], tokens: number, tokens_max: number, reply_tokens: number, completion: string}} PromptInfo
 * @typedef {import("page/studio/rehearsal").RehearsalInfo} RehearsalInfo
 */

const colours = 8;

/** @param {{rehearsal: RehearsalInfo, at: number, who: string, cast: string[], onWho: (handle: string) => void, onClose: () => void}} props */
export function PromptPanel({ rehearsal, at, who, cast, onWho, onClose }) {
  const [prompt, setPrompt] = useState(/** @type {PromptInfo|null} */ (null));
  const [problem, setProblem] = useState("");
  const line = rehearsal.lines.slice(0, at + 1).findLast((one) => one.has_prompt && one.who === who);
  useEffect(() => {
    setProblem("");
    setPrompt(null);
    if (!line) return undefined;
    let isOld = false;
    source().rehearsedPrompt(rehearsal.id, line.id).then((/** @type {PromptInfo} */ read) => isOld || setPrompt(read), (/** @type {Error} */ wrong) => isOld || setProblem(wrong.message));
    return () => {
      isOld = true;
    };
  }, [rehearsal.id, line?.id]);
  return html`<section class="panel studio-prompt" aria-label="Prompt">
    <header class="panel-head"><h2 class="panel-title">Prompt</h2>
      <select class="input" aria-label="Whose prompt" value=${who} onChange=${(/** @type {any} */ event) => onWho(event.target.value)}>${cast.map((handle) => html`<option value=${handle}>${titled(handle)}</option>`)}</select>
      <span class="spacer"></span>${line ? html`<small>for event <b class="mono">${line.k}</b></small>` : null}<${IconButton} label="Close the prompt" icon="close" onClick=${onClose} /></header>
    ${problem ? html`<p class="studio-held" role="alert">${problem}</p>` : null}
    ${line ? null : html`<p class="empty">${titled(who)} was not asked yet at this line.</p>`}
    ${prompt ? html`<div class="studio-tokens"><p><b class="mono">${short(prompt.tokens)}</b> of about ${short(prompt.tokens_max)} tokens<span class="pill mono">${prompt.profile}</span></p>
        <div class="studio-bar-of" aria-hidden="true">${prompt.sections.map(({ tokens }, number) => html`<i class=${`of-${number % colours}`} style=${{ width: `${(tokens / prompt.tokens_max) * 100}%` }}></i>`)}<i class="for-reply" style=${{ width: `${(prompt.reply_tokens / prompt.tokens_max) * 100}%` }}></i></div>
        <small>${short(prompt.reply_tokens)} more are kept for the answer</small></div>
      <div class="studio-sections" tabindex="0" role="group" aria-label="Sections of the prompt">${prompt.sections.map(({ heading, text, tokens }, number) => html`<article class=${`of-${number % colours}`}><h3>${heading.charAt(0) + heading.slice(1).toLowerCase()}<i class="mono">${tokens}</i></h3><pre dir="auto">${harmless(text)}</pre></article>`)}
        <article><h3>It answered</h3><pre dir="auto">${harmless(prompt.completion)}</pre></article></div>` : null}
  </section>`;
}
