// @ts-check
/** The teams face of the play. */
import { html } from "page/html";
import { FaceSwitch } from "page/centre/switch";

export function Teams() {
  return html`<div class="teams-face"><div class="face-head"><${FaceSwitch} /></div></div>`;
}
