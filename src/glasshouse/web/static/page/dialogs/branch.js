// @ts-check
/** Play on from any event, with something changed. The run that it grows from stays as it is. */
import { html, useEffect, useState } from "page/html";
import { growBranch, nameCharsMax } from "page/branching";
import { creatureCalled, graphOf, colourOf, nameOf } from "page/apply";
import { Face } from "page/face";
import { harmless } from "page/plain";
import { closeDialog, isSpeech, numberOf, record, shown, view } from "page/store";
import { Button, Dialog } from "page/ui";

const textCharsMax = 4000;

/** @typedef {"nothing"|"disturb"|"replace"|"drop"} Change */

/** @param {{eventId?: string, change?: Change, text?: string}} props */
export function Branch({ eventId, change: asked = "nothing", text: given = "" }) {
  const at = eventId ?? view()?.event_id ?? "";
  const k = useNumber(eventId);
  const row = k ? record(k) : undefined;
  const isLine = row !== undefined && isSpeech(row) && row.row.icon !== "visitor";
  const [change, setChange] = useState(asked);
  const [text, setText] = useState(given);
  const [isPlaying, setPlaying] = useState(true);
  const [isSending, setSending] = useState(false);
  const [name, setName] = useState("");
  const usualName = change === "drop" ? "never said" : change === "nothing" ? "" : text.trim();
  const needsText = change === "disturb" || change === "replace";
  const isReady = at !== "" && (!needsText || text.trim() !== "") && !isSending;
  const choose = (/** @type {Change} */ next) => {
    setChange(next);
    if (next === "replace") setText(row?.row.text ?? "");
    else if (change === "replace") setText("");
  };
  const send = async () => {
    if (!isReady) return;
    setSending(true);
    const changed = needsText ? { [change]: text.trim() } : change === "drop" ? { drop: true } : {};
    await growBranch({ ...changed, play: isPlaying }, { at, k, name: name.trim() || usualName });
    setSending(false);
  };
  const footer = html`<label class="switch"><input type="checkbox" checked=${isPlaying} onChange=${(/** @type {any} */ event) => setPlaying(event.target.checked)} /><span>Play on at once</span></label>
    <${Button} label="Cancel" onClick=${closeDialog} />
    <${Button} label="Branch" icon="branch" kind="primary" kbd="Enter" type="submit" onClick=${() => {}} isDisabled=${!isReady} />`;
  return html`<${Dialog} title=${k ? `Branch from event ${k}` : "Branch"} width=${560} onSubmit=${send} footer=${footer}>
    ${row ? html`<${Line} row=${row} />` : null}
    <fieldset class="options"><legend class="hidden">What is otherwise?</legend>
      <${Option} value="nothing" chosen=${change} choose=${choose} label="Nothing is changed" hint="The same past, played on once more" />
      <${Option} value="disturb" chosen=${change} choose=${choose} label="Something happens" hint="A visitor says this first" />
      ${isLine ? html`<${Option} value="replace" chosen=${change} choose=${choose} label="Another line was said" hint="In place of the one above" />
        <${Option} value="drop" chosen=${change} choose=${choose} label="The line was never said" hint="The play continues right before it" />` : null}
    </fieldset>
    ${needsText ? html`<label class="field"><span>${change === "replace" ? "The line instead" : "What happens?"}</span>
      <textarea rows="3" dir="auto" maxlength=${textCharsMax} ref=${focusOnce} value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)}
        onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Enter" && !event.shiftKey && !event.isComposing && (event.preventDefault(), send())}></textarea></label>` : null}
    <label class="field"><span>Name of the branch</span><input type="text" dir="auto" autocomplete="off" maxlength=${nameCharsMax} placeholder=${usualName.slice(0, nameCharsMax) || "none"} value=${name} onInput=${(/** @type {any} */ event) => setName(event.target.value)} /></label>
  <//>`;
}

/** @param {HTMLElement|null} element */
function focusOnce(element) {
  if (element && !element.dataset.focused) {
    element.dataset.focused = "yes";
    element.focus();
  }
}

/** The number of the event that is branched from. @param {string|undefined} eventId */
function useNumber(eventId) {
  const [k, setK] = useState(eventId ? 0 : shown.value);
  useEffect(() => {
    if (eventId) void numberOf(eventId).then(setK);
  }, [eventId]);
  return k;
}

/** @param {{row: import("page/apply").Record}} props */
function Line({ row }) {
  const shownView = /** @type {import("page/apply").View} */ (view());
  const actor = creatureCalled(shownView, row.row.actor);
  const colour = colourOf(shownView, graphOf(shownView, row)) % 8;
  return html`<div class=${`branch-line of-${colour}`}>
    ${actor ? html`<${Face} id=${actor[1].handle} colour=${`var(--g${colour})`} size=${28} hasCrown=${actor[1].is_privileged} />` : null}
    <div><b>${harmless(nameOf(row.row.actor, shownView))}</b>${row.row.channel ? html` <span class="mono">#${row.row.channel}</span>` : null}<p class=${isSpeech(row) ? "line" : ""} dir="auto">${harmless(row.row.text ?? "")}</p></div>
  </div>`;
}

/** @param {{value: Change, chosen: Change, choose: (value: Change) => void, label: string, hint: string}} props */
function Option({ value, chosen, choose, label, hint }) {
  return html`<label class="option"><input type="radio" name="change" value=${value} checked=${chosen === value} onChange=${() => choose(value)} ...${chosen === value ? { "data-first": true } : {}} />
    <span>${label}<small>${hint}</small></span></label>`;
}
