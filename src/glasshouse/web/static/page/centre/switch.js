// @ts-check
/** The switch between the faces of the play; each face places it among its own controls. */
import { html } from "page/html";
import { chooseFace, face, faces, hasTeams } from "page/centre/faces";
import { moment, view } from "page/store";

export function FaceSwitch() {
  moment.value;
  const now = view();
  if (!now) return null;
  const offered = faces.filter(({ name }) => name !== "teams" || hasTeams(now));
  return html`<div class="face-switch" role="group" aria-label="Face of the play">
    ${offered.map(({ name, label }) => html`<button type="button" aria-pressed=${face.value === name} onClick=${() => chooseFace(name)}>${label}</button>`)}
  </div>`;
}
