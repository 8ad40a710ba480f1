// @ts-check
/** The centre of the page: the face of the play that is shown, unless it is the graph, which has a place of its own (ADR 0131). */
import { html } from "page/html";
import { face } from "page/centre/faces";
import { FaceSwitch } from "page/centre/switch";
import { Part } from "page/on_demand";

export function Centre() {
  const name = face.value;
  return name === "graph" ? null : html`<${Part} name=${name} meanwhile=${html`<div class="face-head"><${FaceSwitch} /></div>`} />`;
}
