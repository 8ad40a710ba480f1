// @ts-check
/** Feed: to be filled. */
import { html } from "page/html";

export function Feed() {
  return html`<p class="empty">Feed</p>`;
}
