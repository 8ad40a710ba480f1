// @ts-check
/** The transcript: scenes and lines in order. Long stretches in which nothing stands out are folded. */
import { signal } from "@preact/signals";
import { html, memo, useEffect, useRef } from "page/html";
import { graphColour, graphInk } from "page/colours";
import { Face } from "page/face";
import { icon } from "page/icons";
import { Button } from "page/ui";
import { isReplaying, minds } from "page/store";
import { itemsOf, near } from "page/share/folding";
import { current, goTo, lineNow, wanted } from "page/share/navigation";

/**
 * @typedef {import("page/share/lines").Line} Line
 * @typedef {{fold: Line[]}|{line: Line}} Block
 */

const quietLinesMax = 10;
const foldedLinesMin = 4;
const linesAtEdge = 2;
const linesAround = 3;

const linesUnfolded = 100;

/** The lines that were unfolded. */
const opened = signal(/** @type {Set<number>} */ (new Set()));

export function Transcript() {
  const { story } = /** @type {import("page/share/navigation").Shared} */ (current.value);
  const now = lineNow.value;
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  useEffect(() => bringIntoSight(box.current), [wanted.value, now]);
  return html`<section class=${`panel transcript${minds.value ? " has-minds" : ""}`} aria-label="Transcript" ref=${box}>
    <div class="panel-head"><h2 class="panel-title">Transcript</h2><p>every line has an address of its own</p><span class="spacer"></span>
      ${story.hasMinds ? html`<${Button} label=${minds.value ? "Hide thoughts" : "Show thoughts"} icon="eye" kbd="T" isPressed=${minds.value} onClick=${() => (minds.value = !minds.value)} />` : null}
    </div>
    <ol class="lines">${near(itemsOf(story.scenes, now, opened.value, minds.value), now).map((item) => drawn(item, now, story.hasChannels))}</ol>
    <p class="transcript-end">${icon("check", 14)} The record ends at ${story.head.k}.</p>
  </section>`;
}

/** @param {import("page/share/folding").Item} item @param {Line|undefined} now @param {boolean} hasChannels */
function drawn(item, now, hasChannels) {
  if ("scene" in item) return html`<${SceneHead} key=${`scene-${item.scene.k}`} scene=${item.scene} isNow=${item.scene.opening !== null && item.scene.opening === now} />`;
  if ("far" in item) return html`<${Far} key=${`far-${item.side}`} k=${item.far} lines=${item.lines} side=${item.side} />`;
  if ("fold" in item) return html`<${Fold} key=${`fold-${item.fold[0].k}`} lines=${item.fold} />`;
  return html`<${Row} key=${item.line.k} line=${item.line} isNow=${item.line === now} hasMind=${minds.value} hasChannels=${hasChannels} />`;
}

/** Whoever moves by line or by link wants to see the line; whoever reads along while it plays, too. @param {HTMLElement|null} box */
function bringIntoSight(box) {
  const k = wanted.value || (isReplaying.value && lineNow.value?.k) || 0;
  const row = k ? box?.querySelector(`#line-${k}`) : null;
  if (!row) return;
  const rect = row.getBoundingClientRect();
  if (wanted.value) row.scrollIntoView({ block: rect.top < 0 || rect.bottom > innerHeight ? "center" : "nearest" });
  else if (rect.top < innerHeight + 300 && rect.bottom > innerHeight - 60) row.scrollIntoView({ block: "center", behavior: "smooth" });
  wanted.value = 0;
}

/** @param {{scene: import("page/share/lines").Scene, isNow: boolean}} props */
function SceneHead({ scene, isNow }) {
  const opening = scene.opening;
  return html`<li id=${`line-${scene.k}`} class=${`scene-head${isNow ? " is-now" : ""}`} aria-current=${isNow ? "true" : undefined} onClick=${onPick(scene.k)}>
    <div><h3>${scene.title}</h3>${opening ? html`<p>${opening.face ? html`<b>${opening.name}</b> ` : null}${opening.text}</p>` : null}</div>
    <a class="mono" href=${`#${scene.k}`} aria-label=${`Link to ${scene.k}`} onClick=${onPick(scene.k)}>${scene.k}</a>
  </li>`;
}

/** What a click on a line does: go there, unless it selects words or opens the link elsewhere. @param {number} k */
const onPick = (k) => (/** @type {MouseEvent} */ event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || String(getSelection() ?? "")) return;
  event.preventDefault();
  event.stopPropagation();
  void goTo(k);
};

/** @param {{lines: Line[]}} props */
function Fold({ lines }) {
  const open = () => (opened.value = new Set([...opened.value, ...lines.slice(0, linesUnfolded).map((line) => line.k)]));
  return html`<li class="folded-lines"><button type="button" onClick=${open}>${icon("chevron", 14)} Lines ${lines[0].k} to ${lines[lines.length - 1].k}<span>${lines.length > linesUnfolded ? `${linesUnfolded} of ` : ""}${lines.length} lines</span></button></li>`;
}

/** The way to lines that are far from the moment shown. @param {{k: number, lines: number, side: "before"|"after"}} props */
function Far({ k, lines, side }) {
  return html`<li class="folded-lines"><button type="button" onClick=${() => void goTo(k)}>${icon("arrow", 14)} ${side === "before" ? "Back" : "On"} to ${k}<span>${lines.toLocaleString("en")} lines ${side}</span></button></li>`;
}

/** @type {{[kind: string]: string}} */
const marks = { visitor: "bolt", world: "world", thought: "thought" };

/** @param {{line: Line, isNow: boolean, hasMind: boolean, hasChannels: boolean}} props */
function drawRow({ line, isNow, hasMind, hasChannels }) {
  const { k, kind } = line;
  const onClick = onPick(k);
  const isSpoken = kind === "line" || kind === "judge" || (kind === "world" && line.face !== "");
  return html`<li id=${`line-${k}`} class=${`row is-${kind}${isNow ? " is-now" : ""}`} aria-current=${isNow ? "true" : undefined} onClick=${onClick}
      style=${{ "--colour": graphColour(line.colour), "--colour-ink": graphInk(line.colour) }}>
    <span class="row-number mono">${k}</span>
    <span class="row-face">${line.face && kind !== "thought" ? html`<${Face} id=${line.actor} colour=${graphColour(line.colour)} size=${33} isJudge=${line.isJudge} />` : html`<i aria-hidden="true">${icon(kind === "change" ? line.icon : (marks[kind] ?? "world"), 18)}</i>`}</span>
    <div class="row-words">
      <p class="row-who"><b>${line.name}</b>${line.verb ? html` <span>${line.verb}</span>` : null}${line.channel && hasChannels ? html` <span class="row-channel mono">#${line.channel}</span>` : null}${line.isKept ? html`<em class="tag">kept by the judge</em>` : null}${line.mood && hasMind ? html`<em class="tag is-mood">${line.mood}</em>` : null}</p>
      <p class=${isSpoken ? "row-said" : "row-text"} dir="auto">${line.text}</p>
      ${hasMind && line.thought ? html`<p class="row-thought" dir="auto"><span class="hidden">thinks, privately: </span>${line.thought}</p>` : null}
    </div>
    <a class="row-link" href=${`#${k}`} aria-label=${`Link to ${k}`} onClick=${onClick}>${icon("link")}</a>
  </li>`;
}

const Row = memo(drawRow);
