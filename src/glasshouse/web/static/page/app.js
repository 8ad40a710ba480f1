// @ts-check
/** The page: its regions, and what lies over them. */
import { html, useEffect } from "page/html";
import { Bar } from "page/bar";
import { Centre } from "page/centre/panel";
import { EmptyPage } from "page/empty/panel";
import { Face } from "page/face";
import { Overlays } from "page/overlays";
import { Stage } from "page/stage/panel";
import { DrawerTab } from "page/feed/drawer";
import { Feed } from "page/feed/panel";
import { Time } from "page/time/panel";
import { Why } from "page/why/panel";
import { Compare } from "page/compare/panel";
import { registerActions } from "page/actions";
import { areSidesFree, Divider, isDrawerOpen, keepLayoutInAddress, sideWidths, tab } from "page/sides";
import { dialog, isEmpty, openDialog, panel, status, trouble } from "page/store";
import { Button } from "page/ui";

export function App() {
  useEffect(registerActions, []);
  useEffect(keepLayoutInAddress, []);
  const name = status.value;
  if (name === "error") return html`<div class="page" inert=${dialog.value !== null}><${Bar} /><main class="only-words"><${Trouble} /></main></div><${Overlays} />`;
  if (name === "idle" && isEmpty.value) return html`<div class="page is-empty" inert=${dialog.value !== null}><${Bar} /><${EmptyPage} /></div><${Overlays} />`;
  const { stage, feed } = sideWidths.value;
  const isWhy = panel.value.startsWith("why:");
  if (panel.value.startsWith("compare:")) {
    return html`<div class="page" inert=${dialog.value !== null}><${Bar} /><main class="compare-page"><${Compare} run=${panel.value.slice(8)} /></main></div><${Overlays} />`;
  }
  return html`<div class=${`page tab-${tab.value}${isDrawerOpen.value ? " has-drawer" : ""}`} inert=${dialog.value !== null}
      style=${areSidesFree() ? { "--stage-width": `${stage}px`, "--feed-width": `${feed}px` } : {}}>
    <${Bar} />
    <nav class="tabs" aria-label="Panels">
      ${["stage", "graph", "feed"].map((name) => html`<button type="button" aria-pressed=${tab.value === name} onClick=${() => (tab.value = /** @type {any} */ (name))}>${{ stage: "Stage", graph: "Graph", feed: "Events" }[name]}</button>`)}
    </nav>
    <main class="panels">
      <section class="panel at-stage" aria-label="Stage"><${Stage} /></section>
      <${Divider} side="stage" />
      <section class="panel at-graph" aria-label="Graph"><${Centre} /></section>
      <${Divider} side="feed" />
      <section class="panel at-feed" aria-label="Events"><${Feed} /></section>
      <${DrawerTab} />
      ${isWhy ? html`<section class="panel at-why" aria-label="Why was this said?"><${Why} eventId=${panel.value.slice(4)} /></section>` : null}
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
