// @ts-check
/** What stands beside the transcript: the graph at the moment shown, the line of that moment, and moments worth a visit. */
import { html, memo } from "page/html";
import { icon } from "page/icons";
import { Button, dollars } from "page/ui";
import { StillGraph } from "page/graph/still";
import { head, isRewound, moment, run, seek, shown, view } from "page/store";
import { copyLink, current, goTo, isFramed, lineNow } from "page/share/moving";
import { cut, inWords } from "page/share/playbill";

/** @typedef {import("page/share/moving").Shared} Shared */

const quoteCharsMax = 180;

export function Beside() {
  return html`<aside class="beside"><${GraphThen} /><${ThisMoment} /><${Moments} /></aside>`;
}

function GraphThen() {
  moment.value;
  const now = view();
  const line = lineNow.value;
  return html`<section class="panel share-graph" aria-label="Graph">
    <div class="panel-head"><h2 class="panel-title">${isRewound.value ? `The graph at ${shown.value}` : "The graph at the end"}</h2><span class="spacer"></span>
      ${isRewound.value ? html`<button type="button" class="pill status is-rewound" title="To the end (End)" onClick=${() => void seek(head.value)}>Rewound to ${shown.value}</button>` : html`<span class="pill status">${run()?.state === "finished" ? "Finished" : "As it stood"}</span>`}
    </div>
    <div class="share-graph-drawing">${now ? html`<${StillGraph} view=${now} selected=${line?.face ?? ""} />` : null}</div>
  </section>`;
}

function ThisMoment() {
  const { packed, story } = /** @type {Shared} */ (current.value);
  const line = lineNow.value;
  if (!line) return null;
  const answered = story.numbers.get(line.answers);
  const words = [
    answered ? `${line.name} answers ${answered}.` : `${line.name}.`,
    line.heardBy ? `Heard by ${inWords(line.heardBy)}.` : line.face ? "Heard by nobody." : "",
    line.tokens ? `${line.tokens.toLocaleString("en")} tokens, ${dollars(line.usd === undefined ? 0 : line.usd)}.` : "",
  ];
  return html`<section class="panel this-moment" aria-label="This moment">
    <div class="this-head"><h2 class="panel-title">This moment</h2><span class="mono">turn ${line.turn}</span></div>
    <blockquote>“${cut(line.text, quoteCharsMax)}”</blockquote>
    <p>${words.filter(Boolean).join(" ")}</p>
    <div class="this-buttons">
      ${isFramed ? null : html`<${Button} label=${`Copy link to ${shown.value}`} icon="link" kind="primary" onClick=${copyLink} />`}
      ${answered && answered >= packed.first ? html`<${Button} label="What it answers" icon="question" onClick=${() => void goTo(answered)} />` : null}
    </div>
    ${isFramed ? null : html`<code>${packed.file_name}#${shown.value}</code>`}
  </section>`;
}

function Moments() {
  const { story } = /** @type {Shared} */ (current.value);
  return story.moments.length ? html`<${MomentList} moments=${story.moments} now=${lineNow.value?.k} />` : null;
}

const MomentList = memo(drawMoments);

/** @param {{moments: import("page/share/lines").Moment[], now: number|undefined}} props */
function drawMoments({ moments, now }) {
  return html`<section class="panel moments" aria-label="Moments">
    <h2 class="panel-title">Moments</h2>
    <ul>${moments.map((one) => html`<li><button type="button" class=${`moment is-${one.kind}`} aria-current=${one.k === now ? "true" : undefined} onClick=${() => void goTo(one.k)}>
      ${icon(one.icon)}<span>${cut(one.label, 90)}</span><b class="mono">${one.k}</b></button></li>`)}</ul>
  </section>`;
}
