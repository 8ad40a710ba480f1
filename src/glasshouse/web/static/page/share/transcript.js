// @ts-check
/** The transcript: scenes and lines in order. Long stretches in which nothing stands out are folded. */
import { signal } from "@preact/signals";
import { html, memo, useEffect, useRef } from "page/html";
import { graphColour, graphInk } from "page/colours";
import { Face } from "page/face";
import { icon } from "page/icons";
import { Button } from "page/ui";
import { isReplaying, minds } from "page/store";
import { current, goTo, lineNow, wanted } from "page/share/moving";

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
  const { story } = /** @type {import("page/share/moving").Shared} */ (current.value);
  const now = lineNow.value;
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  useEffect(() => bringIntoSight(box.current), [wanted.value, now]);
  return html`<section class=${`panel transcript${minds.value ? " has-minds" : ""}`} aria-label="Transcript" ref=${box}>
    <div class="panel-head"><h2 class="panel-title">Transcript</h2><p>every line has an address of its own</p><span class="spacer"></span>
      ${story.hasMinds ? html`<${Button} label=${minds.value ? "Hide thoughts" : "Show thoughts"} icon="eye" kbd="T" isPressed=${minds.value} onClick=${() => (minds.value = !minds.value)} />` : null}
    </div>
    ${story.scenes.map((scene) => html`<${SceneHead} key=${scene.k} scene=${scene} isNow=${scene.opening !== null && scene.opening === now} />
      <ol class="lines" aria-label=${scene.title || "Lines"}>
        ${blocksOf(scene.lines, now).map((block) => ("fold" in block ? html`<${Fold} key=${`fold-${block.fold[0].k}`} lines=${block.fold} />` : html`<${Row} key=${block.line.k} line=${block.line} isNow=${block.line === now} hasMind=${minds.value} hasChannels=${story.hasChannels} />`))}
      </ol>`)}
    <p class="transcript-end">${icon("check", 14)} The record ends at ${story.head.k}.</p>
  </section>`;
}

/** Whoever moves by line or by link wants to see the line; whoever reads along while it plays, too. @param {HTMLElement|null} box */
function bringIntoSight(box) {
  const k = wanted.value || (isReplaying.value && lineNow.value?.k) || 0;
  const row = k ? box?.querySelector(`#line-${k}`) : null;
  if (!row) return;
  const place = row.getBoundingClientRect();
  if (wanted.value) row.scrollIntoView({ block: place.top < 0 || place.bottom > innerHeight ? "center" : "nearest" });
  else if (place.top < innerHeight + 300 && place.bottom > innerHeight - 60) row.scrollIntoView({ block: "center", behavior: "smooth" });
  wanted.value = 0;
}

/** @param {{scene: import("page/share/lines").Scene, isNow: boolean}} props */
function SceneHead({ scene, isNow }) {
  if (!scene.title) return null;
  const opening = scene.opening;
  return html`<div id=${`line-${scene.k}`} class=${`scene-head${isNow ? " is-now" : ""}`} aria-current=${isNow ? "true" : undefined} onClick=${onPick(scene.k)}>
    <div><h3>${scene.title}</h3>${opening ? html`<p>${opening.face ? html`<b>${opening.name}</b> ` : null}${opening.text}</p>` : null}</div>
    <a class="mono" href=${`#${scene.k}`} aria-label=${`Link to ${scene.k}`} onClick=${onPick(scene.k)}>${scene.k}</a>
  </div>`;
}

/** What a click on a line does: go there, unless it selects words or opens the link elsewhere. @param {number} k */
const onPick = (k) => (/** @type {MouseEvent} */ event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || String(getSelection() ?? "")) return;
  event.preventDefault();
  event.stopPropagation();
  void goTo(k);
};

/** @param {Line} line */
const standsOut = (line) => line.isKept || line.kind === "visitor" || line.kind === "change" || line.kind === "world" || line.isVerdict;

/** The lines of a scene with long quiet stretches folded, but never the lines round the moment shown. @param {Line[]} all @param {Line|undefined} now @returns {Block[]} */
function blocksOf(all, now) {
  const lines = minds.value ? all : all.filter((line) => line.kind !== "thought");
  /** @type {Block[]} */
  const blocks = [];
  let from = 0;
  while (from < lines.length) {
    let to = from;
    while (to < lines.length && !standsOut(lines[to])) to += 1;
    blocks.push(...folded(lines.slice(from, to), now));
    if (to < lines.length) blocks.push({ line: lines[to] });
    from = to + 1;
  }
  return blocks;
}

/** @param {Line[]} stretch @param {Line|undefined} now @returns {Block[]} */
function folded(stretch, now) {
  if (stretch.length <= quietLinesMax) return stretch.map((line) => ({ line }));
  const here = now ? stretch.indexOf(now) : -1;
  const isShown = stretch.map(
    (line, at) => at < linesAtEdge || at >= stretch.length - linesAtEdge || (here >= 0 && Math.abs(at - here) <= linesAround) || opened.value.has(line.k),
  );
  /** @type {Block[]} */
  const blocks = [];
  for (let at = 0; at < stretch.length; ) {
    let end = at;
    while (end < stretch.length && !isShown[end]) end += 1;
    const quiet = stretch.slice(at, end);
    if (quiet.length >= foldedLinesMin) blocks.push({ fold: quiet });
    else blocks.push(...quiet.map((line) => ({ line })));
    if (end < stretch.length) blocks.push({ line: stretch[end] });
    at = end + 1;
  }
  return blocks;
}

/** @param {{lines: Line[]}} props */
function Fold({ lines }) {
  const open = () => (opened.value = new Set([...opened.value, ...lines.slice(0, linesUnfolded).map((line) => line.k)]));
  return html`<li class="folded-lines"><button type="button" onClick=${open}>${icon("chevron", 14)} Lines ${lines[0].k} to ${lines[lines.length - 1].k}<span>${lines.length > linesUnfolded ? `${linesUnfolded} of ` : ""}${lines.length} lines</span></button></li>`;
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
    <span class="row-face">${line.face && kind !== "thought" ? html`<${Face} id=${line.face} colour=${graphColour(line.colour)} size=${33} isJudge=${line.isJudge} />` : html`<i aria-hidden="true">${icon(kind === "change" ? line.icon : (marks[kind] ?? "world"), 18)}</i>`}</span>
    <div class="row-words">
      <p class="row-who"><b>${line.name}</b>${line.verb ? html` <span>${line.verb}</span>` : null}${line.channel && hasChannels ? html` <span class="row-channel mono">#${line.channel}</span>` : null}${line.isKept ? html`<em class="tag">kept by the judge</em>` : null}${line.mood && hasMind ? html`<em class="tag is-mood">${line.mood}</em>` : null}</p>
      <p class=${isSpoken ? "row-said" : "row-told"} dir="auto">${line.text}</p>
      ${hasMind && line.thought ? html`<p class="row-thought" dir="auto"><span class="hidden">thinks, privately: </span>${line.thought}</p>` : null}
    </div>
    <a class="row-link" href=${`#${k}`} aria-label=${`Link to ${k}`} onClick=${onClick}>${icon("link")}</a>
  </li>`;
}

const Row = memo(drawRow);
