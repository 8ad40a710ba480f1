// @ts-check
/** The switch between the faces of the play; each face places it among its own controls. */
import { html, useLayoutEffect, useRef } from "page/html";
import { chooseFace, face, offeredFaces } from "page/centre/faces";
import { load } from "page/on_demand";
import { headView, moment } from "page/store";

/** Whether a switch that had the focus is gone: each face has a switch of its own, and the focus goes along. */
let isFocusLost = false;

function refocus() {
  const button = isFocusLost && document.activeElement === document.body ? document.querySelector(".face-switch [aria-pressed='true']") : null;
  if (!(button instanceof HTMLElement)) return;
  isFocusLost = false;
  button.focus({ preventScroll: true });
}

export function FaceSwitch() {
  moment.value;
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  useLayoutEffect(() => {
    refocus();
    return () => {
      isFocusLost ||= box.current?.contains(document.activeElement) ?? false;
      requestAnimationFrame(refocus);
    };
  }, []);
  if (!headView()) return null;
  return html`<div class="face-switch" role="group" aria-label="Face of the play" ref=${box}>
    ${offeredFaces().map(({ name, label, key }) => html`<button key=${name} type="button" title=${`${label} (${key})`} aria-pressed=${face.value === name} onPointerEnter=${() => void load(name)} onClick=${() => chooseFace(name)}>${label}</button>`)}
  </div>`;
}
