// @ts-check
/** Bars of tokens along the events, in the colours of their graphs, and marks where something happened. */
import { canvasColour, canvasGraphColour } from "page/colours";

/**
 * @typedef {import("page/time/axis").Axis} Axis
 * @typedef {import("page/timeline").Timeline} Timeline
 */

const barsTop = 10;
const barsBottom = 38;
const pixelsPerBarMin = 5;
const barPixelsMax = 4;
const markPixels = 4.5;
const marksApart = 7;

/** Which colour a mark has; what has none is told by the lanes. @type {{[icon: string]: string}} */
const markColours = { world: "ink-3", visitor: "coral", judge: "gold-mark", error: "coral" };

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Axis} axis
 * @param {Timeline} timeline
 * @param {Map<string, number>} colours colour numbers of graphs
 */
export function drawBars(canvas, axis, timeline, colours) {
  const scale = devicePixelRatio || 1;
  const height = 44;
  const [wide, high] = [Math.round(axis.width * scale), Math.round(height * scale)];
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, axis.width, height);
  const bars = barsOf(timeline, axis);
  const most = usualMost(bars.map((bar) => bar.tokens));
  for (const bar of bars) drawBar(pen, bar, most, colours);
  drawMarks(pen, axis, timeline.marks);
}

/** @typedef {{x: number, width: number, tokens: number, parts: [string, number][]}} Bar */

/** Neighbouring bins become one bar where there is too little room. @param {Timeline} timeline @param {Axis} axis @returns {Bar[]} */
export function barsOf({ bins, width }, axis) {
  const pixelsPerBin = (axis.x(1 + width) - axis.x(1)) || 1;
  let binsPerBar = 1;
  while (pixelsPerBin * binsPerBar < pixelsPerBarMin) binsPerBar *= 2;
  const barWidth = Math.max(2, Math.min(barPixelsMax, pixelsPerBin * binsPerBar - 2));
  /** @type {Bar[]} */
  const bars = [];
  for (let at = 0; at < bins.length; at += binsPerBar) {
    /** @type {Map<string, number>} */
    const parts = new Map();
    let tokens = 0;
    for (const bin of bins.slice(at, at + binsPerBar)) {
      for (const graph in bin) {
        parts.set(graph, (parts.get(graph) ?? 0) + bin[graph]);
        tokens += bin[graph];
      }
    }
    const middle = axis.x(1 + at * width + ((binsPerBar * width - 1) / 2));
    if (tokens) bars.push({ x: middle - barWidth / 2, width: barWidth, tokens, parts: [...parts] });
  }
  return bars;
}

/** The height that bars are drawn against: single long ones do not flatten all others. @param {number[]} tokens */
function usualMost(tokens) {
  if (!tokens.length) return 1;
  const sorted = [...tokens].sort((a, b) => a - b);
  return Math.max(1, sorted[Math.floor((sorted.length - 1) * 0.95)]);
}

/** @param {CanvasRenderingContext2D} pen @param {Bar} bar @param {number} most @param {Map<string, number>} colours */
function drawBar(pen, bar, most, colours) {
  // By the square root: short lines stay visible beside long ones.
  const height = Math.max(4, Math.sqrt(Math.min(1, bar.tokens / most)) * (barsBottom - barsTop));
  pen.beginPath();
  pen.roundRect(bar.x, barsBottom - height, bar.width, height, 1.5);
  if (bar.parts.length === 1) {
    pen.fillStyle = canvasGraphColour(colours.get(bar.parts[0][0]) ?? 0);
    pen.fill();
    return;
  }
  pen.save();
  pen.clip();
  let bottom = barsBottom;
  for (const [graph, tokens] of bar.parts) {
    const part = (tokens / bar.tokens) * height;
    pen.fillStyle = canvasGraphColour(colours.get(graph) ?? 0);
    pen.fillRect(bar.x, bottom - part, bar.width, part + 0.5);
    bottom -= part;
  }
  pen.restore();
}

/** @param {CanvasRenderingContext2D} pen @param {Axis} axis @param {[number, string][]} marks */
function drawMarks(pen, axis, marks) {
  /** @type {{[icon: string]: number}} */
  const last = {};
  for (const [k, icon] of marks) {
    const token = markColours[icon];
    const x = axis.x(k);
    if (!token || x - (last[icon] ?? -Infinity) < marksApart) continue;
    last[icon] = x;
    pen.fillStyle = canvasColour(token);
    pen.beginPath();
    pen.moveTo(x - markPixels, barsBottom - 6);
    pen.lineTo(x + markPixels, barsBottom - 6);
    pen.lineTo(x, barsBottom);
    pen.fill();
  }
}
