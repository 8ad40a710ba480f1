// @ts-check
/** The script face of the play. */
import { html } from "page/html";
import { FaceSwitch } from "page/centre/switch";

export function Script() {
  return html`<div class="script-face"><div class="face-head"><${FaceSwitch} /></div></div>`;
}
