// @ts-check
/** What stands beside the transcript: the graph at the moment shown, the line of that moment, and moments worth a visit. */
import { signal } from "@preact/signals";
import { html, memo } from "page/html";
import { nameOf } from "page/apply";
import { icon } from "page/icons";
import { harmless } from "page/plain";
import { Button, dollars } from "page/ui";
import { StaticGraph } from "page/graph/static_graph";
import { head, isRewound, moment, run, seek, shown, view } from "page/store";
import { copyLink, current, goTo, isFramed, lineAt, lineNow } from "page/share/navigation";
import { cut, inWords } from "page/share/playbill";

/** @typedef {import("page/share/navigation").Shared} Shared */

const quoteCharsMax = 180;
const causeCharsMax = 90;
const causesMax = 5;

export function SidePanel() {
  return html`<aside class="side-panel"><${GraphThen} /><${ThisMoment} /><${Moments} /></aside>`;
}

function GraphThen() {
  moment.value;
  const now = view();
  const line = lineNow.value;
  return html`<section class="panel share-graph" aria-label="Graph">
    <div class="panel-head"><h2 class="panel-title">${isRewound.value ? `The graph at ${shown.value}` : "The graph at the end"}</h2><span class="spacer"></span>
      ${isRewound.value ? html`<button type="button" class="pill status is-rewound" title="To the end (End)" onClick=${() => void seek(head.value)}>Rewound to ${shown.value}</button>` : html`<span class="pill status">${run()?.state === "finished" ? "Finished" : "As it stood"}</span>`}
    </div>
    <div class="share-graph-drawing">${now ? html`<${StaticGraph} view=${now} selected=${line?.face ?? ""} />` : null}</div>
  </section>`;
}

/** Whether the chain of causes is unfolded. */
const isWhyOpen = signal(false);

function ThisMoment() {
  const { packed } = /** @type {Shared} */ (current.value);
  const line = lineNow.value;
  if (!line) return null;
  const causes = causesOf(line);
  const [first] = causes;
  const words = [
    !first ? `${line.name}.` : first.isTurn ? `${line.name} has its turn.` : `${line.name} answers ${first.k}.`,
    line.heardBy ? `Heard by ${inWords(line.heardBy)}.` : line.face ? "Heard by nobody." : "",
    line.tokens ? `${line.tokens.toLocaleString("en")} tokens, ${dollars(line.usd === undefined ? 0 : line.usd)}.` : "",
  ];
  return html`<section class="panel this-moment" aria-label="This moment">
    <div class="this-head"><h2 class="panel-title">This moment</h2><span class="mono">turn ${line.turn}</span></div>
    <blockquote dir="auto">${line.face ? html`“${cut(line.text, quoteCharsMax)}”` : cut(line.text, quoteCharsMax)}</blockquote>
    <p>${words.filter(Boolean).join(" ")}</p>
    <div class="this-buttons">
      ${isFramed ? null : html`<${Button} label=${`Copy link to ${shown.value}`} icon="link" kind="primary" onClick=${copyLink} />`}
      ${causes.length ? html`<${Button} label="Why?" icon="question" title="What it answers, and what that answered" isPressed=${isWhyOpen.value} onClick=${() => (isWhyOpen.value = !isWhyOpen.value)} />` : null}
    </div>
    ${isWhyOpen.value && causes.length ? html`<ol class="causes" aria-label="What led to it">
      ${causes.map((cause) => html`<li><button type="button" onClick=${() => void goTo(cause.k)}><b class="mono">${cause.k}</b><span><b>${cause.name}</b> ${cut(cause.text, causeCharsMax)}</span></button></li>`)}
    </ol>` : null}
    ${isFramed ? null : html`<code>${packed.file_name}#${shown.value}</code>`}
  </section>`;
}

/** What a line answers, what that answered, and so on. @param {import("page/share/lines").Line} line */
function causesOf(line) {
  const { packed, story } = /** @type {Shared} */ (current.value);
  const causes = [];
  let answers = line.answers;
  while (answers && causes.length < causesMax) {
    const k = story.numbers.get(answers) ?? 0;
    const row = packed.records[k - packed.first]?.row;
    if (!row) break;
    const said = lineAt(k);
    const isTurn = row.icon === "turn";
    causes.push({ k, isTurn, name: said?.name ?? (isTurn ? `Turn ${row.turn}` : harmless(nameOf(row.actor))), text: said?.text ?? (isTurn ? "begins" : harmless(row.text ?? "")) });
    answers = said?.answers ?? "";
  }
  return causes;
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
    <ul>${moments.map((listed) => html`<li><button type="button" class=${`moment is-${listed.kind}`} aria-current=${listed.k === now ? "true" : undefined} onClick=${() => void goTo(listed.k)}>
      ${icon(listed.icon)}<span>${cut(listed.label, 90)}</span><b class="mono">${listed.k}</b></button></li>`)}</ul>
  </section>`;
}
