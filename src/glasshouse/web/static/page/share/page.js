// @ts-check
/** A shared run: playbill, timeline, transcript, and beside it the moment shown. */
import { html, useState } from "page/html";
import { mark } from "page/icons";
import { flipTheme, theme } from "page/colours";
import { Toasts } from "page/toasts";
import { Button, download, IconButton, Menu } from "page/ui";
import { Time } from "page/time/panel";
import { SidePanel } from "page/share/side_panel";
import { copyLink, current, goTo, isFramed } from "page/share/navigation";
import { cut, Playbill } from "page/share/playbill";
import { Transcript } from "page/share/transcript";

const menuItemsMax = 16;
const menuWidth = 380;

export function SharePage() {
  return html`<div class="share">
    <header class="share-head">
      <span class="share-mark">${mark(24)}<b>Glasshouse</b></span>
      <p>A recorded run. Nothing on this page calls a model.</p>
      <span class="spacer"></span>
      ${isFramed ? null : html`<${Button} label="Copy link" icon="link" onClick=${copyLink} title="Copy the link to this moment (Y)" />
        <${Button} label="Keep the record" icon="download" onClick=${keep} title="Save the run's records as JSON" />`}
      <${IconButton} label=${theme.value === "dark" ? "Light theme" : "Dark theme"} kbd="D" icon=${theme.value === "dark" ? "sun" : "moon"} onClick=${flipTheme} />
    </header>
    <main>
      <${Playbill} />
      <section class="panel at-time" aria-label="Timeline"><${Time} /><${MomentsButton} /></section>
      <div class="share-columns"><${Transcript} /><${SidePanel} /></div>
    </main>
    <${Toasts} />
  </div>`;
}

/** The moments, also where the list of them is far away. */
function MomentsButton() {
  const [at, setAt] = useState(/** @type {{x: number, y: number}|null} */ (null));
  const moments = current.value?.story.moments ?? [];
  if (!moments.length) return null;
  const open = (/** @type {MouseEvent} */ event) => {
    const { right, bottom } = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    setAt({ x: right - menuWidth, y: bottom + 4 });
  };
  const items = moments.slice(0, menuItemsMax).map((listed) => ({ label: cut(listed.label, 48), icon: listed.icon, kbd: String(listed.k), run: () => void goTo(listed.k) }));
  return html`<div class="share-moments"><${Button} label=${html`Moments <span class="mono">${moments.length}</span>`} icon="flag" onClick=${open} /></div>
    ${at ? html`<${Menu} label="Moments" x=${at.x} y=${at.y} items=${items} onClose=${() => setAt(null)} />` : null}`;
}

function keep() {
  const shared = current.value;
  if (shared) download(shared.packed.file_name.replace(/html$/, "json"), new Blob([shared.json], { type: "application/json" }));
}
