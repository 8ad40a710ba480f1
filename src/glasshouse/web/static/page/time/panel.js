// @ts-check
/** Time: to be filled. */
import { html } from "page/html";

export function Time() {
  return html`<p class="empty">Time</p>`;
}
