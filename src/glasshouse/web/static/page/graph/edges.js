// @ts-check
/** Lines of the picture: edges, wires, the pulses that run along them, and lines that somebody draws. */
import { canvasColour, theme } from "page/colours";
import { easeOut, progress } from "page/graph/motion";
import { radiusOf } from "page/graph/scene";

/**
 * @typedef {import("page/graph/scene").Scene} Scene
 * @typedef {import("page/graph/layout").Node} Node
 * @typedef {import("page/graph/layout").Link} Link
 */

/** The two ends of an edge, at the borders of its nodes. @param {Scene} scene @param {Node} source @param {Node} target @param {number} [gap] */
export function endsOf(scene, source, target, gap = 2) {
  const [a, b] = [scene.at(source), scene.at(target)];
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const [ux, uy] = [(b.x - a.x) / length, (b.y - a.y) / length];
  const [near, far] = [ringRadius(scene, source) + gap, ringRadius(scene, target) + gap];
  if (near + far >= length) return { x1: a.x, y1: a.y, x2: b.x, y2: b.y, ux, uy };
  return { x1: a.x + ux * near, y1: a.y + uy * near, x2: b.x - ux * far, y2: b.y - uy * far, ux, uy };
}

/** Where edges end at a node. @param {Scene} scene @param {Node} node */
const ringRadius = (scene, node) => radiusOf(scene, node) * (node.kind === "channel" ? 0.9 : node.entry.is_privileged ? 1.36 : 1);

/** @param {Scene} scene @param {Link} link */
export function drawEdge(scene, link) {
  const { pen, motion, now } = scene;
  const { x1, y1, x2, y2, ux, uy } = endsOf(scene, link.source, link.target);
  const started = motion.drawn.get(link.key);
  const share = started === undefined ? 1 : easeOut(progress(now, started, motion.times.draw));
  const key = link.source.id < link.target.id ? `${link.source.id} ${link.target.id}` : `${link.target.id} ${link.source.id}`;
  const isGlowing = motion.glows.has(key);
  pen.strokeStyle = pen.fillStyle = scene.colourOf(link.target);
  const isNear = [link.source.id, link.target.id].includes(scene.hovered || scene.selected);
  pen.globalAlpha = scene.path.length ? 0.3 : isGlowing || isNear ? 1 : 0.66;
  pen.lineWidth = Math.max(1, Math.min(2.2, 2 * scene.scale)) * (isGlowing ? 1.8 : 1);
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x1 + (x2 - x1) * share, y1 + (y2 - y1) * share);
  pen.stroke();
  if (link.direction === 2 && share === 1) drawArrow(pen, x2, y2, ux, uy, 7);
  if (link.direction === 1 && share === 1) drawArrow(pen, x1, y1, -ux, -uy, 7);
  pen.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} ux @param {number} uy @param {number} size */
export function drawArrow(pen, x, y, ux, uy, size) {
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x - ux * size - uy * size * 0.55, y - uy * size + ux * size * 0.55);
  pen.lineTo(x - ux * size + uy * size * 0.55, y - uy * size - ux * size * 0.55);
  pen.closePath();
  pen.fill();
}

/** The curve of a wire: its ends and the point that bends it. @param {Scene} scene @param {Node} source @param {Node} target */
export function curveOf(scene, source, target) {
  const { x1, y1, x2, y2, ux, uy } = endsOf(scene, source, target, 5);
  const bend = Math.min(48, Math.hypot(x2 - x1, y2 - y1) * 0.22);
  return { x1, y1, x2, y2, cx: (x1 + x2) / 2 - uy * bend, cy: (y1 + y2) / 2 + ux * bend };
}

/** @param {Scene} scene @param {Link} link */
export function drawWire(scene, link) {
  const { pen, motion, now } = scene;
  const { x1, y1, x2, y2, cx, cy } = curveOf(scene, link.source, link.target);
  const started = motion.drawn.get(link.key);
  const share = started === undefined ? 1 : easeOut(progress(now, started, motion.times.draw));
  pen.strokeStyle = pen.fillStyle = canvasColour("gold-mark");
  pen.globalAlpha = scene.path.length ? 0.35 : 1;
  pen.lineWidth = 1.8;
  pen.setLineDash([6, 5]);
  pen.beginPath();
  pen.moveTo(x1, y1);
  const [mx, my] = [x1 + (cx - x1) * share, y1 + (cy - y1) * share];
  const end = onCurve({ x1, y1, x2, y2, cx, cy }, share);
  pen.quadraticCurveTo(mx, my, end.x, end.y);
  pen.stroke();
  pen.setLineDash([]);
  const length = Math.hypot(x2 - cx, y2 - cy) || 1;
  if (share === 1) drawArrow(pen, x2, y2, (x2 - cx) / length, (y2 - cy) / length, 9);
  pen.globalAlpha = 1;
}

/** A point of a curve. @param {{x1: number, y1: number, x2: number, y2: number, cx: number, cy: number}} curve @param {number} share */
function onCurve({ x1, y1, x2, y2, cx, cy }, share) {
  const rest = 1 - share;
  return { x: rest * rest * x1 + 2 * rest * share * cx + share * share * x2, y: rest * rest * y1 + 2 * rest * share * cy + share * share * y2 };
}

/** @param {Scene} scene */
export function drawPulses(scene) {
  const { pen, motion, now, layout } = scene;
  const isDark = theme.value === "dark";
  for (const pulse of motion.pulses()) {
    const [source, target] = [layout.nodes.get(pulse.from), layout.nodes.get(pulse.to)];
    if (!source || !target || now < pulse.start) continue;
    const share = progress(now, pulse.start, pulse.milliseconds);
    const curve = pulse.isWire ? curveOf(scene, source, target) : lineCurve(endsOf(scene, source, target));
    const colour = pulse.isWire ? canvasColour("gold-mark") : scene.colourOf(source.kind === "channel" ? source : target);
    const size = Math.max(1.6, Math.min(5, 4.6 * scene.scale));
    const gap = 4.2 / Math.max(20, Math.hypot(curve.x2 - curve.x1, curve.y2 - curve.y1));
    for (let tail = 5; tail >= 0; tail -= 1) {
      const { x, y } = onCurve(curve, Math.max(0, share - tail * gap));
      pen.globalAlpha = tail ? 0.5 - tail * 0.075 : 1;
      pen.fillStyle = tail === 0 && isDark ? "#f2fffd" : colour;
      pen.beginPath();
      pen.arc(x, y, size * (1 - tail * 0.13), 0, Math.PI * 2);
      pen.fill();
    }
  }
  pen.globalAlpha = 1;
}

/** @param {{x1: number, y1: number, x2: number, y2: number}} line */
const lineCurve = ({ x1, y1, x2, y2 }) => ({ x1, y1, x2, y2, cx: (x1 + x2) / 2, cy: (y1 + y2) / 2 });

/** Lines that somebody draws or tears with the pointer, and the handle that offers it. @param {Scene} scene */
export function drawGhosts({ pen, ghosts, handle }) {
  for (const ghost of ghosts) {
    pen.strokeStyle = pen.fillStyle = ghost.isRefused ? canvasColour("coral") : ghost.colour;
    pen.lineWidth = 2.5;
    pen.setLineDash(ghost.isCut ? [3, 6] : [8, 6]);
    pen.beginPath();
    pen.moveTo(ghost.from.x, ghost.from.y);
    pen.lineTo(ghost.to.x, ghost.to.y);
    pen.stroke();
    pen.setLineDash([]);
    if (ghost.isCut) continue;
    pen.beginPath();
    pen.arc(ghost.to.x, ghost.to.y, 5, 0, Math.PI * 2);
    pen.fill();
  }
  if (!handle) return;
  pen.beginPath();
  pen.arc(handle.x, handle.y, 8, 0, Math.PI * 2);
  pen.fillStyle = canvasColour("accent");
  pen.fill();
  pen.strokeStyle = canvasColour("stage");
  pen.lineWidth = 2;
  pen.stroke();
  pen.strokeStyle = canvasColour("on-accent");
  pen.lineWidth = 1.6;
  pen.beginPath();
  for (const [dx, dy] of [[3.4, 0], [0, 3.4]]) {
    pen.moveTo(handle.x - dx, handle.y - dy);
    pen.lineTo(handle.x + dx, handle.y + dy);
  }
  pen.stroke();
}
