// @ts-check
/** Short messages at the edge of the page, and what a screen reader is told, as they are drawn. */
import { html } from "page/html";
import { icon } from "page/icons";
import { announced, dismiss, toasts } from "page/toast";

export function Toasts() {
  return html`<div class="toasts" role="alert">
    ${toasts.value.map((shown) => html`<div key=${shown.id} class=${`toast ${shown.kind}`}>
      ${icon(shown.kind === "error" ? "error" : "check")}<span>${shown.text}</span>
      ${shown.actions.map(({ label, run }) => html`<button type="button" onClick=${() => (run(), dismiss(shown.id))}>${label}</button>`)}
      <button type="button" aria-label="Dismiss" onClick=${() => dismiss(shown.id)}>${icon("close", 12)}</button>
    </div>`)}
  </div>
  <div class="hidden" aria-live="polite">${announced.value}</div>`;
}
