// @ts-check
/** The rows of the script: lines, scenes, and marks for what happened between them. */
import { html, memo } from "page/html";
import { graphColour } from "page/colours";
import { Face } from "page/face";
import { icon } from "page/icons";
import { wordsOf } from "page/script/marks";
import { isDirector, openDialog, panel, seek } from "page/store";

/**
 * @typedef {import("page/script/items").Item} Item
 * @typedef {{item: Item, beside: string, isNewest: boolean, isActive: boolean, hasMinds: boolean}} Props `beside`: where and to whom
 */

/** @param {Props} props */
function draw(props) {
  const { item } = props;
  if (item.type === "mark") return Mark(props);
  return item.type === "scene" ? Scene(props) : Said(props);
}

export const Row = memo(draw);

/** @param {Props} props */
function Said({ item, beside, isNewest, isActive, hasMinds }) {
  const line = /** @type {import("page/script/fold").Line} */ (item.line);
  const { kind, colour, face, actor } = line;
  const classes = ["script-row", `is-${kind}`, `of-${colour % 8}`, isNewest && "is-newest"];
  return html`<div class=${classes.filter(Boolean).join(" ")} data-k=${item.k} aria-current=${isNewest ? "true" : undefined}>
    <${Number} k=${item.k} isActive=${isActive} />
    <span class="script-portrait">${face ? html`<${Face} id=${actor} colour=${graphColour(colour)} size=${30} hasCrown=${line.isPrivileged} isJudge=${line.isJudge} isOpen=${isNewest} />` : html`<i aria-hidden="true">${icon(kind === "visitor" ? "bolt" : kind, 16)}</i>`}</span>
    <div class="script-words">
      <p class="script-who"><b dir="auto">${line.name}</b>${line.icon === "judge" && line.verb ? html` <em>${line.verb}</em>` : null} <span dir="auto">${beside}</span>${line.mood && hasMinds ? html` <em>${line.mood}</em>` : null}</p>
      <p class="script-said" dir="auto">${line.text}</p>
      ${hasMinds && line.thought && kind !== "thought" ? html`<p class="script-thought" dir="auto"><span class="hidden">thinks, privately: </span>${line.thought}</p>` : null}
    </div>
    <${Actions} id=${line.id} k=${item.k} isActive=${isActive} />
  </div>`;
}

/** @param {Props} props */
function Scene({ item, beside, isNewest, isActive }) {
  const { title, line } = item;
  return html`<div class=${`script-row is-scene of-${(line?.colour ?? 0) % 8}${isNewest ? " is-newest" : ""}`} data-k=${item.k} aria-current=${isNewest ? "true" : undefined}>
    <${Number} k=${item.k} isActive=${isActive} />
    <span class="script-portrait">${title ? null : html`<i aria-hidden="true">${icon("world", 16)}</i>`}</span>
    <div class="script-words">
      ${title ? html`<h3 dir="auto">${title}</h3>` : html`<p class="script-who"><span dir="auto">${line?.face ? html`<b>${line.name}</b> ` : null}${beside}</span></p>`}
      ${line ? html`<p class="script-shown" dir="auto">${title && line.face ? html`<b>${line.name}</b> ` : null}${line.text}</p>` : null}
    </div>
    ${line ? html`<${Actions} id=${line.id} k=${item.k} isActive=${isActive} />` : null}
  </div>`;
}

/** @param {Props} props */
function Mark({ item, isActive }) {
  const { icon: name, main, rest } = wordsOf(item.facts);
  const range = item.k === item.last ? String(item.k) : `${item.k}–${item.last}`;
  return html`<div class=${`script-row is-mark of-${item.facts[0].colour % 8}`} data-k=${item.k}>
    <span class="script-mark">${icon(name, 14)}</span>
    <p title=${`${main} ${rest}`.trim()} dir="auto">${main ? html`<b>${main}</b> ` : null}${rest}</p>
    <button type="button" class="script-number mono" aria-label=${`${item.k === item.last ? "Event" : "Events"} ${range}: rewind there`} tabindex=${isActive ? 0 : -1} onClick=${() => void seek(item.last)}>${range}</button>
  </div>`;
}

/** The number of a line's event, which leads there. @param {{k: number, isActive: boolean}} props */
function Number({ k, isActive }) {
  return html`<button type="button" class="script-number mono" aria-label=${`Event ${k}: rewind there`} title="Rewind to this moment" tabindex=${isActive ? 0 : -1} onClick=${() => void seek(k)}>${k}</button>`;
}

/** @param {{id: string, k: number, isActive: boolean}} props */
function Actions({ id, k, isActive }) {
  const reach = isActive ? 0 : -1;
  return html`<span class="script-actions">
    <button type="button" class="button icon-only quiet" tabindex=${reach} aria-label=${`Why was ${k} said?`} title="Why (W)" onClick=${() => (panel.value = `why:${id}`)}>${icon("question", 14)}</button>
    ${isDirector.value ? html`<button type="button" class="button icon-only quiet" tabindex=${reach} aria-label=${`Branch from ${k}`} title="Branch from here" onClick=${() => openDialog("branch", { eventId: id })}>${icon("branch", 14)}</button>` : null}
  </span>`;
}
