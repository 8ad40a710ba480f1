// @ts-check
/** Graph: to be filled. */
import { html } from "page/html";

export function Graph() {
  return html`<p class="empty">Graph</p>`;
}
