// @ts-check
/** What lies over the page: the dialog that is open, short messages, and what a screen reader is told. */
import { html } from "page/html";
import { dialogs } from "page/dialogs/all";
import { announced, dismiss, toasts } from "page/toast";
import { dialog } from "page/store";
import { icon } from "page/icons";

export function Overlays() {
  const open = dialog.value;
  const Shown = open ? dialogs[open.name] : undefined;
  return html`${Shown ? html`<${Shown} key=${open?.name} ...${open?.args ?? {}} />` : null}
    <div class="toasts" role="alert">
      ${toasts.value.map((shown) => html`<div key=${shown.id} class=${`toast ${shown.kind}`}>
        ${icon(shown.kind === "error" ? "error" : "check")}<span>${shown.text}</span>
        ${shown.actions.map(({ label, run }) => html`<button type="button" onClick=${() => (run(), dismiss(shown.id))}>${label}</button>`)}
        <button type="button" aria-label="Dismiss" onClick=${() => dismiss(shown.id)}>${icon("close", 12)}</button>
      </div>`)}
    </div>
    <div class="hidden" aria-live="polite">${announced.value}</div>`;
}
