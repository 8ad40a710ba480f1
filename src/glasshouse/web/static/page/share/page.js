// @ts-check
/** A shared run: playbill, timeline, transcript, and beside it the moment shown. */
import { html } from "page/html";
import { mark } from "page/icons";
import { flipTheme, theme } from "page/colours";
import { Toasts } from "page/toasts";
import { Button, download, IconButton } from "page/ui";
import { Time } from "page/time/panel";
import { Beside } from "page/share/beside";
import { copyLink, current, isFramed } from "page/share/moving";
import { Playbill } from "page/share/playbill";
import { Transcript } from "page/share/transcript";

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
      <section class="panel at-time" aria-label="Timeline"><${Time} /></section>
      <div class="share-columns"><${Transcript} /><${Beside} /></div>
    </main>
    <${Toasts} />
  </div>`;
}

function keep() {
  const shared = current.value;
  if (shared) download(shared.packed.file_name.replace(/html$/, "json"), new Blob([shared.json], { type: "application/json" }));
}
