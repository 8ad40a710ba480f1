// @ts-check
/**
 * The page on a phone: one panel at a time and the buttons under the thumb. On a low page everything stands in one column, words first.
 *
 * Always holds: what is read first stands first in the document, so the keyboard and a screen reader meet it in the same order.
 */
import { html, useEffect, useRef } from "page/html";
import { form } from "page/form";
import { face, labelOf } from "page/centre/faces";
import { Centre } from "page/centre/panel";
import { Graph } from "page/graph/panel";
import { Feed } from "page/feed/panel";
import { hasEnded, isCurtainDown, putCurtainAside, showCurtain } from "page/curtain/state";
import { Part } from "page/on_demand";
import { LowBar, PhoneBar } from "page/phone/bar";
import { CastStrip } from "page/phone/cast_strip";
import { ThumbRow } from "page/phone/row";
import { swiping } from "page/phone/touch";
import { Words } from "page/phone/words";
import { areLanesOpen, tab } from "page/sides";
import { dialog, goLive, head, moment, panel, shown, view } from "page/store";
import { Time } from "page/time/panel";

export { PhoneBar };

/** The tabs, in their order. The one in the middle is named after the face that it shows. @type {("words"|"graph"|"feed")[]} */
const tabs = ["words", "graph", "feed"];

export function PhonePage() {
  const why = panel.value.startsWith("why:") ? html`<section class="panel at-why" aria-label="Why was this said?"><${Part} name="why" given=${{ eventId: panel.value.slice(4) }} /></section>` : null;
  const words = html`<section class="panel at-stage" aria-label="Words"><${Words} /></section>`;
  const centre = html`<section class="panel at-graph" aria-label=${labelOf(face.value)}>${face.value === "graph" ? html`<${Graph} />` : html`<${Centre} />`}</section>`;
  const feed = html`<section class="panel at-feed" aria-label="Events"><${Feed} /></section>`;
  const time = html`<${TimeSheet} />`;
  const curtain = isCurtainDown.value ? html`<section class="panel at-curtain" aria-label="The end"><${Part} name="curtain" /></section>` : null;
  if (form.value === "low") {
    return html`<div class="page" inert=${dialog.value !== null}><${LowBar} />
      <main class="panels">${curtain}${words}<${CastStrip} />${centre}${time}${feed}${why}</main></div>`;
  }
  return html`<div class=${`page tab-${tab.value}${curtain ? " has-curtain" : ""}`} inert=${dialog.value !== null}>
    <${PhoneBar} /><${Tabs} />
    <main class="panels" ...${swiping(turnTo)}>${words}${centre}${feed}${curtain}${why}</main>
    ${tab.value === "words" && !curtain ? html`<${CastStrip} />` : null}
    ${time}<${ThumbRow} /></div>`;
}

/** @param {1|-1} by */
function turnTo(by) {
  if (panel.value) return;
  putCurtainAside();
  const at = tabs.indexOf(tab.value) + by;
  tab.value = tabs[Math.max(0, Math.min(tabs.length - 1, at))];
}

function Tabs() {
  moment.value;
  const labels = { words: "Words", graph: labelOf(face.value), feed: "Events" };
  const counts = { words: 0, graph: face.value === "graph" ? Object.keys(view()?.graphs ?? {}).length : 0, feed: shown.value };
  return html`<nav class="tabs" aria-label="Panels" ...${swiping(turnTo)}>
    ${tabs.map((name) => html`<button type="button" key=${name} aria-pressed=${tab.value === name && !isCurtainDown.value} onClick=${() => (putCurtainAside(), (tab.value = name))}>${labels[name]}${head.value && counts[name] ? html`<span class="count">${counts[name]}</span>` : null}</button>`)}
    ${hasEnded.value ? html`<button type="button" aria-pressed=${isCurtainDown.value} onClick=${() => (goLive(), showCurtain())}>The end</button>` : null}
  </nav>`;
}

/** Time: the bars; or everything of it, in a sheet over the lower half. */
function TimeSheet() {
  const isOpen = areLanesOpen.value;
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const wasOpen = useRef(false);
  useEffect(() => {
    if (isOpen) /** @type {HTMLElement|null|undefined} */ (box.current?.querySelector(".lanes-toggle"))?.focus();
    else if (wasOpen.current) document.getElementById("more")?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  return html`${isOpen ? html`<div class="sheet-veil" onClick=${() => (areLanesOpen.value = false)}></div>` : null}
    <section ref=${box} class=${`panel at-time${isOpen ? " is-sheet" : ""}`} aria-label="Timeline"><${Time} /></section>`;
}
