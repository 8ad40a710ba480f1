// @ts-check
/** What a run has spent of what it may, how fast it goes, and how to continue it. */
import { html, useEffect, useState } from "page/html";
import { raiseLimits } from "page/commands";
import { limits, limitWords } from "page/limits";
import { closeDialog, isDirector, moment, open, run, session, view } from "page/store";
import { throughput } from "page/throughput";
import { Button, Dialog, dollars } from "page/ui";

const grownBy = 2;

/** @param {{isRaising?: boolean}} props */
export function Purse({ isRaising = false }) {
  moment.value;
  const shownRun = run();
  const [areRaised, setRaised] = useState(isRaising);
  const [given, setGiven] = useState(/** @type {{[name: string]: string}} */ ({}));
  const [isSending, setSending] = useState(false);
  if (!shownRun) return null;
  const wanted = Object.fromEntries(Object.entries(given).map(([name, text]) => [name, Number(text.replace(/[$,\s]/g, ""))]).filter(([, value]) => Number(value) > 0));
  const raise = async () => {
    if (!areRaised) return closeDialog();
    if (!Object.keys(wanted).length || isSending) return undefined;
    setSending(true);
    const done = await raiseLimits(wanted);
    setSending(false);
    if (!done) return undefined;
    closeDialog();
    void open(done.id, { isStep: true });
    return undefined;
  };
  const canRaise = isDirector.value && Boolean(shownRun.axis);
  const footer = html`<span>${stateWords(shownRun)}</span>
    ${areRaised ? html`<${Button} label="Cancel" onClick=${closeDialog} /><${Button} label="Continue in a branch" kind="primary" kbd="Enter" type="submit" onClick=${() => {}} isDisabled=${isSending || !Object.keys(wanted).length} />`
      : html`${canRaise ? html`<${Button} label="Raise limit" onClick=${() => setRaised(true)} />` : null}<${Button} label="Close" kind="primary" onClick=${closeDialog} />`}`;
  return html`<${Dialog} title="Costs and limits" width=${520} onSubmit=${raise} footer=${footer}>
    <table class="purse"><thead><tr><th scope="col">What</th><th scope="col">Spent</th><th scope="col">Limit</th><th scope="col" class="bar-column"><span class="hidden">Share</span></th></tr></thead>
      <tbody>${limits.map((limit) => html`<${Row} key=${limit.name} limit=${limit} shownRun=${shownRun} isRaised=${areRaised} text=${given[limit.name]} onInput=${(/** @type {string} */ text) => setGiven({ ...given, [limit.name]: text })} />`)}</tbody></table>
    ${shownRun.spent.usd === null ? html`<p class="remark">What it cost is not known: a model that was asked has no price here. A spend limit cannot hold such a run.</p>` : null}
    <${Pace} />
    ${Others()}
  <//>`;
}

/** @param {import("page/apply").Run} shownRun */
function stateWords({ state, reason, axis }) {
  if (axis) return `Stopped: ${limitWords(axis)}.`;
  return state === "finished" ? "The run is over." : state === "paused" ? `Paused${reason ? `: ${reason}` : ""}.` : "Stops by itself at the first limit it reaches.";
}

/** @param {{limit: typeof limits[number], shownRun: import("page/apply").Run, isRaised: boolean, text?: string, onInput: (text: string) => void}} props */
function Row({ limit, shownRun, isRaised, text, onInput }) {
  const spent = shownRun.spent[limit.spent];
  const most = shownRun.limits?.[limit.name] ?? null;
  const share = most && spent !== null ? Math.min(1, spent / most) : 0;
  const isFull = shownRun.axis === limit.name;
  return html`<tr class=${isFull ? "is-full" : share >= 0.8 ? "is-near" : ""}>
    <th scope="row">${limit.label}</th><td>${spent === null ? "unknown" : limit.show(spent)}</td>
    <td>${isRaised ? html`<input class="input" type="text" inputmode="decimal" autocomplete="off" aria-label=${`New limit: ${limit.label}`} placeholder=${most === null ? "none" : String(most)} value=${text ?? ""}
      onInput=${(/** @type {any} */ event) => onInput(event.target.value)} ref=${isFull ? (/** @type {HTMLInputElement|null} */ field) => suggest(field, most, onInput) : undefined} />` : most === null ? "none" : limit.show(most)}</td>
    <td class="bar-column"><div class="meter-bar" aria-hidden="true"><div style=${{ width: `${Math.round(share * 100)}%` }}></div></div></td>
  </tr>`;
}

/** Twice as much is a fair first word. @param {HTMLInputElement|null} field @param {number|null} most @param {(text: string) => void} onInput */
function suggest(field, most, onInput) {
  if (!field || field.dataset.suggested || most === null) return;
  field.dataset.suggested = "yes";
  onInput(String(most * grownBy));
  field.focus();
}

/** Events per second over the last minute. */
function Pace() {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  const counts = throughput();
  const most = Math.max(1, ...counts);
  const total = counts.reduce((sum, count) => sum + count, 0);
  return html`<figure class="pace"><figcaption><span>Events in the last minute</span><b class="mono">${total}</b><span class="mono">${(total / counts.length).toFixed(1)}/s</span></figcaption>
    <svg viewBox="0 0 240 36" preserveAspectRatio="none" role="img" aria-label=${`${total} events in the last minute, at most ${Math.max(...counts)} in a second`}>
      ${counts.map((count, at) => (count ? html`<rect x=${at * 4} y=${36 - (count / most) * 34} width="3" height=${(count / most) * 34} rx="1" />` : html`<rect class="none" x=${at * 4} y="35" width="3" height="1" />`))}
    </svg></figure>`;
}

/** Runs that share a graph with this one pay from purses of their own. */
function Others() {
  const runs = view()?.runs ?? {};
  const own = new Set([session.value.run]);
  for (const id of own) own.add(runs[id]?.branch_of?.run_id ?? id); // A branch's past is its own.
  const others = Object.entries(runs).filter(([id]) => !own.has(id));
  if (!others.length) return null;
  return html`<div class="remark"><b>Other runs in this story pay for themselves</b><ul>${others.map(([id, other]) => html`<li key=${id}><button type="button" class="text-button" onClick=${() => (closeDialog(), open(id, { isStep: true }))}>${other.title}</button> <span class="mono">${other.spent.turns} turns, ${other.spent.calls} calls, ${dollars(other.spent.usd)}</span></li>`)}</ul></div>`;
}
