// @ts-check
import { html } from "page/html";
/** @param {{record: any, onHeight: any}} props */
export function Details({ record }) {
  return html`<div class="feed-details">${record.id}</div>`;
}
