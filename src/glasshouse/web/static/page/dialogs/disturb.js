// @ts-check
/** Say something into the show, as a visitor: what, in which graph, and who will hear it. */
import { html, useEffect, useState } from "page/html";
import { disturb } from "page/commands";
import { Face } from "page/face";
import { nameOf } from "page/apply";
import { harmless } from "page/plain";
import { castOf } from "page/stage/cast";
import { closeDialog, goLive, headView, isRewound, openDialog, selection, session, shown, source } from "page/store";
import { Button, Dialog } from "page/ui";

const textCharsMax = 4000;
const facesShown = 12;
const suggestionsShown = 4;
const namesShown = 4;

/** @param {{graph?: string}} props */
export function Disturb({ graph: asked }) {
  const [text, setText] = useState("");
  const [isSending, setSending] = useState(false);
  const suggestions = useSuggestions();
  const view = /** @type {import("page/apply").View} */ (headView());
  const { creatures, graphs } = view;
  const here = castOf(view).filter((id) => creatures[id].run === session.value.run);
  const ids = [...new Set(here.map((id) => creatures[id].graph))];
  const near = selection.value?.kind === "graph" ? selection.value.id : undefined;
  // Empty: in every graph of the run, unless somebody has chosen one.
  // A process that only follows the store can say something to whole runs alone.
  const [chosen, setChosen] = useState((session.value.isGuest ? [] : [asked, near]).find((id) => id && ids.includes(id)) ?? "");
  const hearers = castOf(view).filter((id) => (chosen ? creatures[id].graph === chosen : ids.includes(creatures[id].graph)));
  const send = async () => {
    if (!text.trim() || isSending) return;
    setSending(true);
    const said = await disturb(text.trim(), chosen);
    setSending(false);
    if (!said) return;
    closeDialog();
    if (isRewound.value) goLive();
  };
  const footer = html`<span>${isRewound.value ? `It happens now, not at event ${shown.value}.` : "It cannot be taken back."}</span>
    ${isRewound.value ? html`<${Button} label="Branch from here instead" onClick=${() => openDialog("branch", { change: "disturb", text })} />` : html`<${Button} label="Cancel" onClick=${closeDialog} />`}
    <${Button} label="Disturb" icon="bolt" kind="primary" kbd="Enter" type="submit" onClick=${() => {}} isDisabled=${!text.trim() || isSending} />`;
  return html`<${Dialog} title="Disturb the show" width=${560} onSubmit=${send} footer=${footer}>
    <label class="field"><span>What happens?</span>
      <textarea rows="3" dir="auto" data-first maxlength=${textCharsMax} placeholder="A bell has been heard under the harbour." value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)}
        onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Enter" && !event.shiftKey && !event.isComposing && (event.preventDefault(), send())}></textarea></label>
    ${suggestions.length ? html`<div class="suggestions" role="group" aria-label="Suggestions">${suggestions.map((words) => html`<button type="button" class="suggestion" onClick=${() => setText(words)}>${words}</button>`)}</div>` : null}
    ${ids.length > 1 && !session.value.isGuest ? html`<fieldset class="graph-choices"><legend>Who hears it?</legend><label class="graph-choice"><input type="radio" name="graph" checked=${chosen === ""} onChange=${() => setChosen("")} /><span>All graphs</span></label>${ids.map((id) => html`<label key=${id} class=${`graph-choice of-${graphs[id].colour % 8}`}><input type="radio" name="graph" checked=${id === chosen} onChange=${() => setChosen(id)} /><span>${nameOf(graphs[id].name)}</span></label>`)}</fieldset>` : null}
    <div class="hearers"><span aria-live="polite">${hearWords(ids.map((id) => nameOf(graphs[id].name)), chosen ? nameOf(graphs[chosen].name) : "", hearers.length)}</span>
      <span class="faces">${hearers.slice(0, facesShown).map((id) => html`<${Face} key=${id} id=${id} colour=${`var(--g${(graphs[creatures[id].graph]?.colour ?? 0) % 8})`} size=${24} />`)}${hearers.length > facesShown ? html`<small class="mono">+${hearers.length - facesShown}</small>` : null}</span></div>
  <//>`;
}

/**
 * Who hears it, in a sentence.
 * @param {string[]} graphs the names of the run's graphs @param {string} chosen the name of the one that is chosen; empty: all
 * @param {number} count of the creatures there
 */
export function hearWords(graphs, chosen, count) {
  const creatures = count === 1 ? "one creature" : `${count} creatures`;
  if (graphs.length < 2) return count === 1 ? "One creature hears it." : `All ${count} creatures hear it.`;
  const others = graphs.length === 2 ? "The other graph hears nothing." : `The other ${graphs.length - 1} graphs hear nothing.`;
  if (chosen) return `Only ${harmless(chosen)} hears it: ${creatures}. ${others}`;
  const named = graphs.length > namesShown ? "" : `, ${listed(graphs.map(harmless))}`;
  return `${graphs.length === 2 ? "Both graphs" : `All ${graphs.length} graphs`} of this play hear it${named}: ${creatures}.`;
}

/** @param {string[]} names */
const listed = (names) => `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

/** What visitors say in this world. @returns {string[]} */
function useSuggestions() {
  const [words, setWords] = useState(/** @type {string[]} */ ([]));
  useEffect(() => {
    const title = headView()?.runs[session.value.run]?.title;
    source().worlds().then(
      (/** @type {any[]} */ worlds) => setWords((worlds.find((world) => world.title === title)?.disturbances ?? []).slice(0, suggestionsShown)),
      () => {}, // Without suggestions one writes something oneself.
    );
  }, []);
  return words;
}
