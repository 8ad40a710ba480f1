// @ts-check
/** What the feed leaves out: kinds, one creature, graph or channel, and words. All of it is in the page's address. */
import { signal } from "@preact/signals";
import { html, useEffect, useLayoutEffect, useRef } from "page/html";
import { address } from "page/address";
import { nameOf } from "page/apply";
import { icon } from "page/icons";
import { Button, Chip, Field } from "page/ui";
import { kinds } from "page/feed/kinds";
import { harmless } from "page/plain";
import { filters, headView, moment, selection, setFilters, view } from "page/store";

const noFilters = { kind: "all", creature: "", graph: "", channel: "", text: "" };
const typingMilliseconds = 150;

/** Whether the choices of the filter are open. */
export const isChoosing = signal(false);
/** Whether there is a field to search in. */
export const isSearching = signal(address().text !== undefined);

/** Whether everything is shown. */
export const isUnfiltered = () => Object.entries(noFilters).every(([name, value]) => filters.value[/** @type {"kind"} */ (name)] === value);
export function clearFilters() {
  isSearching.value = false;
  setFilters(noFilters);
}

/** @param {string} id */
const creatureName = (id) => nameOf(harmless(headView()?.creatures[id]?.handle ?? id), headView() ?? undefined);
/** @param {string} id */
function graphName(id) {
  const story = headView();
  const lane = Object.values(story?.lanes ?? {}).find((entry) => entry.graph === id && entry.name);
  return nameOf(harmless(story?.graphs[id]?.name ?? lane?.name ?? id));
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
    ${text && !isSearching.value ? html`<${Chip} label=${`“${harmless(text)}”`} onRemove=${() => setFilters({ text: "" })} />` : null}
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

/** Words to look for, below the chips. */
export function Search() {
  const input = useRef(/** @type {HTMLInputElement|null} */ (null));
  const timer = useRef(/** @type {ReturnType<typeof setTimeout>|undefined} */ (undefined));
  useLayoutEffect(() => {
    if (isFieldWanted) input.current?.focus();
    isFieldWanted = false;
  }, []);
  const close = () => {
    clearTimeout(timer.current);
    isSearching.value = false;
    setFilters({ text: "" });
  };
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    if (event.key === "Escape") close();
    else if (event.key === "Enter") /** @type {HTMLElement|null} */ (document.querySelector(".feed-scroll [tabindex='0']"))?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onType = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setFilters({ text: input.current?.value.trim() ?? "" }), typingMilliseconds);
  };
  return html`<div class="feed-search" role="search">
    ${icon("search", 14)}
    <input ref=${input} id="feed-search" type="text" aria-label="Search the events" placeholder="Search what was said" maxlength="200" autocomplete="off" spellcheck=${false}
      value=${filters.value.text} onInput=${onType} onKeyDown=${onKeyDown} />
    <button type="button" aria-label="Close the search" onClick=${close}>${icon("close", 12)}</button>
  </div>`;
}

let isFieldWanted = false;

/** Search: what is typed next goes into the field. */
export function openSearch() {
  isSearching.value = true;
  isFieldWanted = true;
  document.getElementById("feed-search")?.focus();
}

/** The choices of the filter, below its button. @param {{onClose: () => void}} props */
export function Choices({ onClose }) {
  moment.value;
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  useLayoutEffect(() => box.current?.querySelector("select")?.focus(), []);
  useEffect(() => {
    /** @param {Event} event */
    const away = (event) => {
      if (event.target instanceof Element && !event.target.closest(".feed-filter, #feed-filter-button")) onClose();
    };
    addEventListener("pointerdown", away, true);
    return () => removeEventListener("pointerdown", away, true);
  }, [onClose]);
  const story = headView();
  const { creature, graph, channel } = filters.value;
  const creatures = Object.keys(story?.creatures ?? {}).map((id) => /** @type {[string, string]} */ ([id, creatureName(id)]));
  const graphs = [...new Set(Object.values(story?.lanes ?? {}).map((lane) => lane.graph))].map((id) => /** @type {[string, string]} */ ([id, graphName(id)]));
  const channels = [...new Set(Object.values(story?.channels ?? {}).map((channel) => channel.name))].map((name) => /** @type {[string, string]} */ ([name, `#${harmless(name)}`]));
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    onClose();
  };
  return html`<div class="feed-filter" ref=${box} role="dialog" aria-label="Filter events" onKeyDown=${onKeyDown}>
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
