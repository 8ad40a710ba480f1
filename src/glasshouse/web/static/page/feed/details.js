// @ts-check
/** An opened row: the whole event in words, what it cost, what its model was asked, and what can be done from here. */
import { html, useEffect, useLayoutEffect, useRef, useState } from "page/html";
import { Button, dollars, short } from "page/ui";
import { harmless } from "page/plain";
import { copyLink } from "page/feed/export";
import { numberHere } from "page/feed/numbers";
import { costOf } from "page/why/words";
import { isDirector, openDialog, panel, run, seek, session, source } from "page/store";

/** @typedef {import("page/apply").Record} Record */

const charsMax = 1200;
const jsonCharsMax = 20_000;
const eventsKept = 60;

/** Events that were read already: an event never changes. @type {Map<string, Promise<any>>} */
const events = new Map();

/** @param {string} id */
function eventOf(id) {
  const key = `${session.value.run} ${session.value.role} ${id}`;
  let event = events.get(key);
  if (!event) {
    event = source().event(session.value.run, id);
    event.catch(() => events.delete(key));
    events.set(key, event);
    if (events.size > eventsKept) events.delete(/** @type {string} */ (events.keys().next().value));
  }
  return event;
}

/** What is asked for, once it is here. @param {() => Promise<any>} ask @param {any[]} on @returns {{value?: any, problem?: string}} */
export function useAnswer(ask, on) {
  const [answer, setAnswer] = useState(/** @type {{value?: any, problem?: string}} */ ({}));
  useEffect(() => {
    let isWanted = true;
    setAnswer({});
    ask().then(
      (value) => isWanted && setAnswer({ value }),
      (wrong) => isWanted && setAnswer({ problem: wrong instanceof Error ? wrong.message : String(wrong) }),
    );
    return () => {
      isWanted = false;
    };
  }, on);
  return answer;
}

/** @param {{record: Record, onHeight: (k: number, height: number) => void}} props */
export function Details({ record, onHeight }) {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const { k, id } = record;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const measure = () => element.offsetHeight && onHeight(k, element.offsetHeight + Number.parseFloat(getComputedStyle(element).marginTop));
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    measure();
    return () => watch.disconnect();
  }, [k]);
  const { value: event, problem } = useAnswer(() => eventOf(id), [id]);
  const whole = typeof event?.payload?.text === "string" ? event.payload.text : (record.row.text ?? "");
  return html`<div class="feed-details" ref=${box}>
    ${whole ? html`<${LongText} text=${whole} class="feed-whole" />` : null}
    ${event?.private?.thought ? html`<p class="feed-thought" dir="auto"><span>thinks, privately</span>${harmless(event.private.thought)}</p>` : null}
    ${problem ? html`<p class="feed-problem">${problem}</p>` : null}
    <div class="feed-buttons">
      <${Button} label="Rewind here" icon="turn" onClick=${() => void seek(k)} />
      ${isDirector.value ? html`<${Button} label="Branch from here" icon="branch" onClick=${() => openDialog("branch", { eventId: id })} />` : null}
      ${isDirector.value && record.row.icon === "run" && run()?.axis && /^(finished|paused)\b/.test(record.row.text ?? "") ? html`<${Button} label="Raise limit" icon="plus" onClick=${() => openDialog("purse", { isRaising: true })} />` : null}
      <${Button} label="Why" icon="question" kbd="W" onClick=${() => (panel.value = `why:${id}`)} />
      <${Button} label="Copy link" icon="link" kind="quiet" onClick=${() => void copyLink({ at: id })} />
    </div>
    ${event ? html`<${Facts} event=${event} />` : null}
    ${event && isDirector.value && event.model?.calls?.length ? html`<${Unfold} label="Prompt" of=${() => html`<${Prompt} id=${id} />`} />` : null}
    ${event ? html`<${Unfold} label="JSON" of=${() => html`<${Code} text=${JSON.stringify(event, null, 2)} />`} />` : null}
  </div>`;
}

/** A text of any length: its start, and the rest when one asks. @param {{text: string, class: string}} props */
export function LongText({ text, class: name }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > charsMax;
  return html`<div class=${name} dir="auto">${harmless(isLong && !isWhole ? `${text.slice(0, charsMax)}…` : text)}</div>
    ${isLong ? html`<button type="button" class="feed-more" onClick=${() => setWhole(!isWhole)}>${isWhole ? "Show less" : `Show all ${short(text.length)} characters`}</button>` : null}`;
}

/** @param {{event: any}} props */
function Facts({ event }) {
  const { calls, input, output, usd, milliseconds, models } = costOf(event);
  /** @type {[string, any][]} */
  const facts = [["Kind", event.kind]];
  for (const [name, value] of Object.entries(event.payload ?? {})) if (name !== "text") facts.push([labelOf(name), value]);
  if (event.caused_by) facts.push(["Answers", event.caused_by]);
  if (calls) {
    if (models.some(Boolean)) facts.push(["Model", models.join(", ")]);
    facts.push(["Tokens", `${input.toLocaleString("en")} in, ${output.toLocaleString("en")} out`], ["Cost", dollars(usd)]);
    if (milliseconds) facts.push(["Took", `${(milliseconds / 1000).toFixed(1)} s${calls > 1 ? `, ${calls} calls` : ""}`]);
  }
  facts.push(["Time", new Date(event.created_at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" })]);
  return html`<dl class="feed-facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd dir="auto"><${Value} value=${value} /></dd></div>`)}
    <div><dt>Event</dt><dd>${event.id}</dd></div></dl>`;
}

/** "is_ok" is Is ok. @param {string} name */
const labelOf = (name) => harmless(name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " "));

/** A field of a payload; ids of events are their numbers, which one can go to. @param {{value: any}} props */
function Value({ value }) {
  if (typeof value === "string") {
    const k = numberHere(value);
    if (k) return html`<button type="button" class="feed-more" title=${value} onClick=${() => void seek(k)}>event ${k}</button>`;
    return html`<${LongText} text=${value} class="feed-value" />`;
  }
  if (value === null || typeof value !== "object") return String(value);
  if (Array.isArray(value) && value.length && value.every((part) => typeof part === "string")) return value.map((part, at) => html`${at ? ", " : null}<${Value} value=${part} />`);
  return html`<${LongText} text=${JSON.stringify(value)} class="feed-value mono" />`;
}

/** @param {{label: string, of: () => any}} props */
function Unfold({ label, of }) {
  const [isOpen, setOpen] = useState(false);
  return html`<button type="button" class="feed-unfold" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${label}</button>${isOpen ? of() : null}`;
}

/** What models were asked. @param {{id: string}} props */
function Prompt({ id }) {
  const { value, problem } = useAnswer(() => source().about(session.value.run, id, "prompt"), [id]);
  if (problem) return html`<p class="feed-problem">${problem}</p>`;
  if (!value) return html`<p class="feed-wait">The prompt is on its way.</p>`;
  return value.calls.map(
    (/** @type {any} */ call, /** @type {number} */ at) => html`<div class="feed-call" key=${at}>
      <h3>${harmless(call.model)}${value.calls.length > 1 ? `, call ${at + 1} of ${value.calls.length}` : ""}</h3>
      <h4>Who it is</h4><${Code} text=${call.system ?? "Not kept."} />
      <h4>What it was asked</h4><${Code} text=${call.user ?? "Not kept."} />
      ${call.reasoning ? html`<h4>How it reasoned</h4><${Code} text=${call.reasoning} />` : null}
      <h4>What it answered</h4><${Code} text=${call.error || call.completion} />
    </div>`,
  );
}

/** @param {{text: string}} props */
function Code({ text }) {
  return html`<pre class="feed-code" tabindex="0" dir="auto">${harmless(text.slice(0, jsonCharsMax))}${text.length > jsonCharsMax ? `\n… ${short(text.length - jsonCharsMax)} more characters` : ""}</pre>`;
}
