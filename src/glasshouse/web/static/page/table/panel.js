// @ts-check
/** The table face of the play. */
import { html } from "page/html";
import { FaceSwitch } from "page/centre/switch";

export function Table() {
  return html`<div class="table-face"><div class="face-head"><${FaceSwitch} /></div></div>`;
}
