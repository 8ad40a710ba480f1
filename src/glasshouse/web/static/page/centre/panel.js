// @ts-check
/** The centre of the page: the face of the play that is shown, unless it is the graph, which has a place of its own (ADR 0131). */
import { html, useEffect } from "page/html";
import { face } from "page/centre/faces";
import { loaded, loadFace } from "page/centre/loading";
import { FaceSwitch } from "page/centre/switch";
import { Button } from "page/ui";

export function Centre() {
  const name = face.value;
  const drawn = loaded.value[name];
  useEffect(() => void loadFace(name), [name]);
  if (drawn && drawn !== "lost") return html`<${drawn} />`;
  return html`<div class="face-head"><${FaceSwitch} /></div>
    ${drawn === "lost" ? html`<div class="empty"><p>This face could not be loaded.</p><${Button} label="Try again" onClick=${() => void loadFace(name)} /></div>` : null}`;
}
