// @ts-check
/** The switch between the faces of the play; each face places it among its own controls. */
import { html } from "page/html";
import { chooseFace, face, offeredFaces } from "page/centre/faces";
import { loadFace } from "page/centre/loading";
import { headView, moment } from "page/store";

/** @param {import("page/centre/faces").FaceName} name */
function choose(name) {
  chooseFace(name);
  // Another face has a switch of its own: the focus goes along.
  requestAnimationFrame(() => /** @type {HTMLElement|null} */ (document.querySelector(".face-switch [aria-pressed='true']"))?.focus({ preventScroll: true }));
}

export function FaceSwitch() {
  moment.value;
  if (!headView()) return null;
  return html`<div class="face-switch" role="group" aria-label="Face of the play">
    ${offeredFaces().map(({ name, label, key }) => html`<button key=${name} type="button" title=${`${label} (${key})`} aria-pressed=${face.value === name} onPointerEnter=${() => void loadFace(name)} onClick=${() => choose(name)}>${label}</button>`)}
  </div>`;
}
