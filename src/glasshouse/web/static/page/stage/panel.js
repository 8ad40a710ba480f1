// @ts-check
/** Stage: to be filled. */
import { html } from "page/html";

export function Stage() {
  return html`<p class="empty">Stage</p>`;
}
