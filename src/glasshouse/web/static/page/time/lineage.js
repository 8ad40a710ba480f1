// @ts-check
/** Lineage: the lanes as they are drawn, and the buttons on them. */
import { html, memo, useRef } from "page/html";
import { graphColour } from "page/colours";
import { rowsShown } from "page/time/lanes";

/**
 * @typedef {import("page/time/axis").Axis} Axis
 * @typedef {import("page/time/lanes").Lineage} Lineage
 * @typedef {import("page/time/lanes").Line} Line
 * @typedef {import("page/time/lanes").Fork} Fork
 * @typedef {{key: string, k: number, x: number, row: number, label: string, kind: string, colour: string, run?: string}} Stop a place on a lane that one can go to
 */

const rowPixels = 27;
const firstRow = 16;
const curvePixels = 26;
const stopsApart = 9;
const rowsMin = 3;
const rowsUnfoldedMax = 4;
/** Nobody reads more lanes than this, and a page with thousands of graphs stays quick. */
const rowsMax = 60;
const letterPixels = 6.3;
const labelsApart = 150;

/** Four rows still fit when they stand closer. */
const rowPixelsClose = 22;
const endingPixels = 16;

let pitch = rowPixels;
/** How far below the rule a row is. @param {number} row */
export const yOf = (row) => firstRow + row * pitch;

export const Lanes = memo(DrawnLanes);

/**
 * @param {{lineage: Lineage, axis: Axis, isOver: boolean, isUnfolded: boolean, ending: string,
 *   onFold: () => void, onGo: (k: number) => void, onFork: (fork: Fork, at: {x: number, y: number}) => void}} props
 */
function DrawnLanes({ lineage, axis, isOver, isUnfolded, ending, onFold, onGo, onFork }) {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const rows = Math.min(rowsMax, isUnfolded || lineage.rows <= rowsUnfoldedMax ? lineage.rows : rowsShown(lineage, rowsMin));
  pitch = rows === rowsUnfoldedMax ? rowPixelsClose : rowPixels;
  const lines = lineage.lines.filter((line) => line.row < rows);
  const folded = lineage.lines.filter((line) => line.row >= rows).reduce((sum, line) => sum + line.sessions, 0);
  const isThere = /** @param {Line|undefined} line */ (line) => line !== undefined && line.row < rows;
  const stops = stopsOf(lines, lineage.forks, axis, isThere);
  const height = Math.max(90, rows * pitch + 8);
  return html`<div class="lanes" ref=${box} role="group" aria-label="Lineage" onKeyDown=${(/** @type {KeyboardEvent} */ event) => walk(event, box.current)}>
    <div class="lanes-inside" style=${{ height: `${height}px` }}>
      <svg class="so-far" width=${axis.width} height=${height} aria-hidden="true" focusable="false">
        ${lines.map((line) => html`<path key=${line.graph} class="lane" d=${pathOf(line, axis, isThere)} style=${{ stroke: graphColour(line.colour) }} />`)}
      </svg>
      <svg width=${axis.width} height=${height} aria-hidden="true" focusable="false">
        ${lineage.forks.map((fork) => html`<path key=${fork.run} class="lane is-fork" d=${forkPath(fork, axis)} />`)}
        ${labelsOf(lines, lineage.forks, axis, isThere).map((label) => html`<text x=${label.x} y=${label.y}>${label.text}</text>`)}
        ${stops.map((stop) => html`<g key=${stop.key} transform=${`translate(${stop.x} ${yOf(stop.row)})`} style=${{ color: stop.colour }}>
          <circle class="stop" r="5.5" />${stop.kind === "merge" ? html`<circle r="2" fill="currentColor" />` : null}
        </g>`)}
        ${isOver ? html`<g class="ending" transform=${`translate(${axis.x(axis.events) + endingPixels} ${yOf(0)})`}><path class="lane" d=${`M${-endingPixels} 0H0`} /><circle r="7" /><path d="M-3 .3-.8 2.500 3.200-2.200" /></g>` : null}
      </svg>
      ${stops.map((stop, number) => html`<button key=${stop.key} type="button" class="stop-button" tabindex=${number === 0 ? 0 : -1} data-row=${stop.row} data-k=${stop.k}
        style=${{ left: `${stop.x - 12}px`, top: `${yOf(stop.row) - 12}px` }} aria-label=${stop.label} title=${stop.label} onClick=${() => onGo(stop.k)}></button>`)}
      ${lineage.forks.map((fork) => html`<button key=${fork.run} type="button" class="fork-button" tabindex="-1" data-row=${fork.row} data-k=${fork.at}
        style=${{ left: `${axis.x(fork.at) + curvePixels}px`, top: `${yOf(fork.row) - 18}px`, width: `${Math.max(60, fork.title.length * letterPixels + 16)}px` }}
        aria-label=${`Branch ${fork.title}, from event ${fork.at}`} aria-haspopup="menu" title="Open or compare this branch"
        onClick=${(/** @type {MouseEvent} */ event) => onFork(fork, placeOf(event))}></button>`)}
      ${isOver ? html`<span class="hidden">${ending}</span>` : null}
    </div>
    ${folded || (isUnfolded && lineage.rows > rowsUnfoldedMax) ? html`<button type="button" class="fold" onClick=${onFold} aria-expanded=${isUnfolded}>${isUnfolded ? "Fold" : `+${folded} sessions`}</button>` : null}
  </div>`;
}

/** Where a menu opens: at the button, whether it was clicked or pressed. @param {MouseEvent} event */
function placeOf(event) {
  const { left, bottom } = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
  return { x: left, y: bottom };
}

/** A line that goes on is drawn to the end of the axis; the page shows it up to the newest event. @param {Line} line @param {Axis} axis @param {(line: Line|undefined) => boolean} isThere */
function pathOf(line, axis, isThere) {
  const y = yOf(line.row);
  const begin = axis.x(line.first);
  const end = axis.x(line.isOpen ? axis.events : line.last);
  const from = isThere(line.comesFrom) && line.comesFrom && line.comesFrom.row !== line.row ? yOf(line.comesFrom.row) : null;
  const into = isThere(line.goesInto) && line.goesInto && line.goesInto.row !== line.row ? yOf(line.goesInto.row) : null;
  const bend = Math.min(curvePixels, (end - begin) / (from !== null && into !== null ? 2 : 1));
  let path = from === null ? `M${begin} ${y}` : `M${begin} ${from}${curve(begin, from, begin + Math.max(bend, 6), y)}`;
  path += into === null ? `H${Math.max(end, begin + 1)}` : `H${end - bend}${curve(end - bend, y, end, into)}`;
  return path;
}

/** @param {number} x @param {number} y @param {number} toX @param {number} toY */
function curve(x, y, toX, toY) {
  const middle = (x + toX) / 2;
  return `C${middle} ${y} ${middle} ${toY} ${toX} ${toY}`;
}

/** @param {Fork} fork @param {Axis} axis */
function forkPath(fork, axis) {
  const x = axis.x(fork.at);
  const y = yOf(fork.row);
  const from = fork.from ? yOf(fork.from.row) : y;
  return `M${x} ${from}${curve(x, from, x + curvePixels, y)}H${Math.min(axis.end, Math.max(x + curvePixels + 60, axis.x(fork.at + fork.length)))}`;
}

const saying = { birth: "begins", merge: "merges", split: "splits", fork: "branches" };

/** @param {Line[]} lines @param {Fork[]} forks @param {Axis} axis @param {(line: Line|undefined) => boolean} isThere @returns {Stop[]} */
function stopsOf(lines, forks, axis, isThere) {
  /** @type {Stop[]} */
  const stops = [];
  for (const line of lines) {
    for (const [number, node] of line.nodes.entries()) {
      if (node.kind === "split" && number > 0) continue; // The line that parts from it has the node.
      const isBent = number === 0 && isThere(line.comesFrom);
      const row = isBent && line.comesFrom ? line.comesFrom.row : line.row;
      const colour = node.kind === "fork" ? "var(--gold-mark)" : graphColour(line.colour);
      stops.push({ key: node.session, k: node.k, x: axis.x(node.k), row, kind: node.kind, colour, label: `${node.name} ${saying[node.kind]}, event ${node.k}` });
    }
  }
  for (const fork of forks) {
    const row = fork.from?.row ?? fork.row;
    stops.push({ key: `fork ${fork.run}`, k: fork.at, x: axis.x(fork.at), row, kind: "fork", colour: "var(--gold-mark)", label: `${fork.title} branches off, event ${fork.at}` });
  }
  stops.sort((a, b) => a.row - b.row || a.k - b.k);
  /** Where there is no room for two, the first stands for both. */
  return stops.filter((stop, at) => at === 0 || stops[at - 1].row !== stop.row || stop.x - stops[at - 1].x >= stopsApart || stop.kind === "fork");
}

/** @param {Line[]} lines @param {Fork[]} forks @param {Axis} axis @param {(line: Line|undefined) => boolean} isThere */
function labelsOf(lines, forks, axis, isThere) {
  /** @type {{x: number, y: number, text: string}[]} */
  const labels = [];
  /** @type {{[row: number]: {end: number, text: string}}} */
  const last = {};
  /** @param {number} row @param {number} x @param {string} text */
  const put = (row, x, text) => {
    const before = last[row];
    if (!text || (before && (x < before.end + 10 || (before.text === text && x < before.end + labelsApart)))) return;
    labels.push({ x, y: yOf(row) - 7, text });
    last[row] = { end: x + text.length * letterPixels, text };
  };
  /** @type {[number, number, string][]} */
  const wanted = [];
  for (const line of lines) {
    for (const [number, node] of line.nodes.entries()) {
      const isBent = number === 0 && isThere(line.comesFrom) && line.comesFrom?.row !== line.row;
      wanted.push([line.row, axis.x(node.k) + (isBent ? curvePixels + 8 : 10), node.name]);
    }
  }
  for (const fork of forks) wanted.push([fork.row, axis.x(fork.at) + curvePixels + 8, fork.title]);
  wanted.sort(([, a], [, b]) => a - b);
  for (const [row, x, text] of wanted) put(row, Math.min(x, axis.width - text.length * letterPixels - 8), text);
  return labels;
}

/** Arrow keys walk the lanes: along a row, and to the nearest place of another one. @param {KeyboardEvent} event @param {HTMLElement|null} box */
function walk(event, box) {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -Infinity], End: [0, Infinity] }[event.key];
  const here = document.activeElement;
  if (!step || !box || !(here instanceof HTMLElement) || here.dataset.row === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  const all = /** @type {HTMLElement[]} */ ([...box.querySelectorAll("[data-row]")]);
  const [row, k] = [Number(here.dataset.row), Number(here.dataset.k)];
  const [down, along] = step;
  const inRow = /** @param {number} wanted */ (wanted) => all.filter((button) => Number(button.dataset.row) === wanted).sort((a, b) => Number(a.dataset.k) - Number(b.dataset.k));
  if (along) {
    const some = inRow(row);
    const at = Math.max(0, Math.min(some.length - 1, some.indexOf(here) + along));
    some[at]?.focus();
    return;
  }
  for (let other = row + down; other >= 0 && other <= 1000; other += down) {
    const some = inRow(other);
    if (some.length) return some.reduce((best, button) => (Math.abs(Number(button.dataset.k) - k) < Math.abs(Number(best.dataset.k) - k) ? button : best)).focus();
    if (other > Math.max(...all.map((button) => Number(button.dataset.row)))) return;
  }
}
