// @ts-check
/** Why: to be filled. */
import { html } from "page/html";

/** @param {{eventId: string}} props */
export function Why({ eventId }) {
  return html`<p class="empty">${eventId}</p>`;
}
