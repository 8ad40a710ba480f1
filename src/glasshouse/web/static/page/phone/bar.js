// @ts-check
/** The head of the page on a phone; on a low page it has the speaker and the buttons too, and stays while the page scrolls. */
import { html } from "page/html";
import { StatusPill, useTabTitle } from "page/bar";
import { Face } from "page/face";
import { titleOf } from "page/graph/summary";
import { mark } from "page/icons";
import { readOf, whereAndToWhom } from "page/phone/lines";
import { MoreMenu } from "page/phone/menu";
import { NextButton, PauseButton } from "page/phone/row";
import { moment, openDialog, record, run, selection, view } from "page/store";

export function PhoneBar() {
  moment.value;
  useTabTitle();
  const shownRun = run();
  return html`<header class="bar">
    <a class="mark" href="./" aria-label="Glasshouse" onClick=${(/** @type {Event} */ event) => (event.preventDefault(), openDialog("archive"))}>${mark(24)}</a>
    <h1>${shownRun?.title ?? "Glasshouse"}</h1>
    <span class="spacer"></span>
    ${StatusPill()}
    <${MoreMenu} />
  </header>`;
}

/** The head of a low page: who speaks, and what one does most. */
export function LowBar() {
  moment.value;
  useTabTitle();
  const now = view();
  const read = now ? readOf(now, selection.value) : "";
  return html`<header class="bar low-bar">
    <h1 class="hidden">${run()?.title ?? "Glasshouse"}</h1>
    ${now && read ? Speaker(now, read) : html`<span class="low-title">${mark(22)}<b>${run()?.title ?? "Glasshouse"}</b></span>`}
    ${run() ? html`<${PauseButton} /><${NextButton} />` : null}
    <${MoreMenu} />
  </header>`;
}

/** The line below it says all of this to a screen reader. @param {import("page/apply").View} now @param {string} id */
function Speaker(now, id) {
  const creature = now.creatures[id];
  return html`<div class="low-speaker" aria-hidden="true"><${Face} id=${creature.handle} colour=${`var(--g${(now.graphs[creature.graph]?.colour ?? 0) % 8})`} size=${20} />
    <div><b dir="auto">${titleOf(creature)}</b><span dir="auto">${creature.line ? whereAndToWhom(now, id, record) : ""}</span></div></div>`;
}
