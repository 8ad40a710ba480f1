// @ts-check
/** What the feed leaves out: kinds, one creature, graph or channel, and words. All of it is in the page's address. */
import { signal } from "@preact/signals";
import { html, useEffect, useLayoutEffect, useRef } from "page/html";
import { nameOf } from "page/apply";
import { Button, Chip, Field } from "page/ui";
import { kinds } from "page/feed/kinds";
import { harmless } from "page/plain";
import { filters, headView, moment, selection, setFilters, view } from "page/store";

const noFilters = { kind: "all", creature: "", graph: "", channel: "", text: "" };
const typingMilliseconds = 150;

/** Whether the fields of the filter are open, and which has the focus. */
export const filterField = signal(/** @type {""|"creature"|"text"} */ (""));

/** Whether everything is shown. */
export const isUnfiltered = () => Object.entries(noFilters).every(([name, value]) => filters.value[/** @type {"kind"} */ (name)] === value);
export const clearFilters = () => setFilters(noFilters);

/** @param {string} id */
const creatureName = (id) => nameOf(harmless(headView()?.creatures[id]?.handle ?? id), headView() ?? undefined);
/** @param {string} id */
function graphName(id) {
  const story = headView();
  const lane = Object.values(story?.lanes ?? {}).find((one) => one.graph === id && one.name);
  return harmless(story?.graphs[id]?.name ?? lane?.name ?? id);
}

/** The chips below the header: kinds, what is filtered by, and what the selection offers. */
export function Chips() {
  moment.value;
  const { kind, creature, graph, channel, text } = filters.value;
  const offer = offered();
  return html`<div class="feed-chips" role="group" aria-label="What the feed shows">
    ${kinds.map(({ id, label }) => html`<${Chip} key=${id} label=${label} isOn=${kind === id} onClick=${() => setFilters({ kind: id })} />`)}
    ${creature ? html`<${Chip} label=${creatureName(creature)} onRemove=${() => setFilters({ creature: "" })} />` : null}
    ${graph ? html`<${Chip} label=${`graph ${graphName(graph)}`} onRemove=${() => setFilters({ graph: "" })} />` : null}
    ${channel ? html`<${Chip} label=${`#${harmless(channel)}`} onRemove=${() => setFilters({ channel: "" })} />` : null}
    ${text ? html`<${Chip} label=${`“${harmless(text)}”`} onRemove=${() => setFilters({ text: "" })} />` : null}
    ${offer ? html`<button type="button" class="chip feed-offer" onClick=${offer.run}>${offer.label}</button>` : null}
  </div>`;
}

/** What the selection could be filtered by. @returns {{label: string, run: () => void}|null} */
function offered() {
  const chosen = selection.value;
  const story = view();
  if (!chosen || !story) return null;
  const { creature, graph, channel } = filters.value;
  if (chosen.kind === "creature" && creature !== chosen.id) return { label: `Only ${creatureName(chosen.id)}`, run: () => setFilters({ creature: chosen.id }) };
  if (chosen.kind === "graph" && graph !== chosen.id) return { label: `Only ${graphName(chosen.id)}`, run: () => setFilters({ graph: chosen.id }) };
  const name = chosen.kind === "channel" ? story.channels[chosen.id]?.name : undefined;
  return name && channel !== name ? { label: `Only #${harmless(name)}`, run: () => setFilters({ channel: name }) } : null;
}

/** The fields of the filter, below its button. @param {{onClose: () => void}} props */
export function FilterFields({ onClose }) {
  moment.value;
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const timer = useRef(/** @type {ReturnType<typeof setTimeout>|undefined} */ (undefined));
  const field = filterField.value;
  useLayoutEffect(() => {
    const first = box.current?.querySelector(field === "text" ? "input" : "select");
    if (first instanceof HTMLElement) first.focus();
  }, [field]);
  useEffect(() => {
    /** @param {Event} event */
    const away = (event) => {
      if (event.target instanceof Element && !event.target.closest(".feed-filter, #feed-filter-button")) onClose();
    };
    addEventListener("pointerdown", away, true);
    return () => removeEventListener("pointerdown", away, true);
  }, [onClose]);
  const story = headView();
  const { creature, graph, channel, text } = filters.value;
  const creatures = Object.keys(story?.creatures ?? {}).map((id) => /** @type {[string, string]} */ ([id, creatureName(id)]));
  const graphs = [...new Set(Object.values(story?.lanes ?? {}).map((lane) => lane.graph))].map((id) => /** @type {[string, string]} */ ([id, graphName(id)]));
  const channels = [...new Set(Object.values(story?.channels ?? {}).map((one) => one.name))].map((name) => /** @type {[string, string]} */ ([name, `#${harmless(name)}`]));
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    if (event.key !== "Escape" && event.key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
    onClose();
  };
  /** @param {InputEvent & {currentTarget: HTMLInputElement}} event */
  const onType = (event) => {
    const { value } = event.currentTarget;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setFilters({ text: value.trim() }), typingMilliseconds);
  };
  return html`<div class="feed-filter" ref=${box} role="dialog" aria-label="Filter events" onKeyDown=${onKeyDown}>
    <${Field} label="Words"><input type="search" value=${text} placeholder="Search what was said" maxlength="200" autocomplete="off" onInput=${onType} /><//>
    <${Choice} label="Creature" all="Every creature" value=${creature} options=${creatures} onChange=${(/** @type {string} */ id) => setFilters({ creature: id })} />
    <${Choice} label="Graph" all="Every graph" value=${graph} options=${graphs} onChange=${(/** @type {string} */ id) => setFilters({ graph: id })} />
    <${Choice} label="Channel" all="Every channel" value=${channel} options=${channels} onChange=${(/** @type {string} */ name) => setFilters({ channel: name })} />
    <div class="feed-filter-foot"><${Button} label="Clear filters" kind="quiet" isDisabled=${isUnfiltered()} onClick=${clearFilters} /><${Button} label="Done" onClick=${onClose} /></div>
  </div>`;
}

/** @param {{label: string, all: string, value: string, options: [string, string][], onChange: (value: string) => void}} props */
function Choice({ label, all, value, options, onChange }) {
  const sorted = [...options].sort((a, b) => a[1].localeCompare(b[1]));
  // One that is gone can still be in the address.
  if (value && !sorted.some(([id]) => id === value)) sorted.push([value, harmless(value)]);
  return html`<${Field} label=${label}>
    <select value=${value} onChange=${(/** @type {Event & {currentTarget: HTMLSelectElement}} */ event) => onChange(event.currentTarget.value)}>
      <option value="">${all}</option>
      ${sorted.map(([id, name]) => html`<option key=${id} value=${id} selected=${id === value}>${name}</option>`)}
    </select><//>`;
}
