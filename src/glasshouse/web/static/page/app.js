// @ts-check
/** The page: its regions, and what lies over them. */
import { html, useEffect } from "page/html";
import { Bar } from "page/bar";
import { face, labelOf, registerFaces } from "page/centre/faces";
import { Centre } from "page/centre/panel";
import { Face } from "page/face";
import { followForm, form, phone, useForm } from "page/form";
import { Graph } from "page/graph/panel";
import { Part } from "page/on_demand";
import { Overlays } from "page/overlays";
import { Stage } from "page/stage/panel";
import { DrawerTab } from "page/feed/drawer";
import { Feed } from "page/feed/panel";
import { Time } from "page/time/panel";
import { registerActions } from "page/actions";
import { isCurtainDown } from "page/curtain/state";
import { areSidesFree, Divider, isDrawerOpen, keepLayoutInAddress, sideWidths } from "page/sides";
import { dialog, isEmpty, openDialog, panel, status, trouble } from "page/store";
import { Button } from "page/ui";

export function App() {
  useEffect(registerActions, []);
  useEffect(registerFaces, []);
  useEffect(keepLayoutInAddress, []);
  useEffect(followForm, []);
  useForm();
  const name = status.value;
  const isWide = form.value === "wide";
  if (!isWide && !phone.value) return html`<div class="page"><main aria-busy="true"><h1 class="hidden">Glasshouse</h1></main></div><${Overlays} />`; // Its parts are on their way.
  const Top = isWide || !phone.value ? Bar : phone.value.PhoneBar;
  if (panel.value.startsWith("studio:")) return html`<div class="page is-studio" inert=${dialog.value !== null}><${Part} name="studio" given=${{ world: panel.value.slice(7) }} /></div><${Overlays} />`;
  if (name === "error") return html`<div class="page" inert=${dialog.value !== null}><${Top} /><main class="only-words"><${Trouble} /></main></div><${Overlays} />`;
  if (name === "idle" && isEmpty.value) return html`<div class="page is-empty" inert=${dialog.value !== null}><${Top} /><${Part} name="empty" /></div><${Overlays} />`;
  const { stage, feed } = sideWidths.value;
  const isWhy = panel.value.startsWith("why:");
  if (panel.value.startsWith("compare:")) {
    return html`<div class="page" inert=${dialog.value !== null}><${Top} /><main class="compare-page"><${Part} name="compare" given=${{ run: panel.value.slice(8) }} /></main></div><${Overlays} />`;
  }
  if (!isWide && phone.value) return html`<${phone.value.PhonePage} /><${Overlays} />`;
  return html`<div class=${`page face-${face.value}${isDrawerOpen.value ? " has-drawer" : ""}${isWhy ? " has-why" : ""}${isCurtainDown.value ? " has-curtain" : ""}`} inert=${dialog.value !== null}
      style=${areSidesFree() ? { "--stage-width": `${stage}px`, "--feed-width": `${feed}px` } : {}}>
    <${Bar} />
    <main class="panels">
      <section class="panel at-stage" aria-label="Stage"><${Stage} /></section>
      <${Divider} side="stage" />
      ${face.value === "graph" ? null : html`<section class="panel at-centre" aria-label=${labelOf(face.value)}><${Centre} /></section>`}
      <section class="panel at-graph" aria-label="Graph" hidden=${face.value === "table" || face.value === "teams"}><${Graph} /></section>
      <${Divider} side="feed" />
      <section class="panel at-feed" aria-label="Events"><${Feed} /></section>
      <${DrawerTab} />
      ${isCurtainDown.value ? html`<section class="panel at-curtain" aria-label="The end"><${Part} name="curtain" /></section>` : null}
      ${isWhy ? html`<section class="panel at-why" aria-label="Why was this said?"><${Part} name="why" given=${{ eventId: panel.value.slice(4) }} /></section>` : null}
    </main>
    <section class="panel at-time" aria-label="Timeline"><${Time} /></section>
  </div>
  <${Overlays} />`;
}

const troubles = /** @type {{[status: number]: [string, string]}} */ ({
  404: ["There is no such run", "This store has none of that name. It may be in another store, or the link was cut short."],
  401: ["This page needs a link", "Ask whoever serves it for one."],
});

function Trouble() {
  const { status: code, message } = trouble.value ?? { status: 0, message: "" };
  const [title, words] = troubles[code] ?? ["The run cannot be shown", message];
  return html`<${Face} id="nobody" colour="var(--line)" size=${64} /><h2>${title}</h2><p>${words}</p>
    <p>${code === 404 ? html`<${Button} label="Open the archive" kind="primary" onClick=${() => openDialog("archive")} />` : html`<${Button} label="Try again" kind="primary" onClick=${() => location.reload()} />`}</p>`;
}
