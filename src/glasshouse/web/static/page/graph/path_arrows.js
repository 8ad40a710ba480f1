// @ts-check
/** The path of a why: arrows from cause to effect, and numbers on those who have a part in it. */
import { canvasColour, theme } from "page/colours";
import { curveOf, drawArrow } from "page/graph/edges";
import { family, radiusOf } from "page/graph/scene";

/**
 * @typedef {import("page/graph/scene").Scene} Scene
 * @typedef {import("page/graph/layout").Node} Node
 * @typedef {import("page/graph/scene").PathStep} PathStep
 */

/** How one thing led to another: arrows from cause to effect. @param {Scene} scene */
export function drawPath(scene) {
  const { pen, path } = scene;
  const isDark = theme.value === "dark";
  for (const step of path) {
    const target = onPath(scene, step.creature);
    const source = onPath(scene, step.from);
    if (!target || !source || source === target) continue;
    const { x1, y1, x2, y2, cx, cy } = curveOf(scene, source, target);
    const cause = path.find(({ creature }) => creature === step.from);
    const colour = canvasColour(cause?.isDisturbance ? "coral" : isDark ? "ink" : "ink-2");
    pen.lineCap = "round";
    for (const [style, width, alpha] of /** @type {[string, number, number][]} */ ([[canvasColour("stage"), 7, 0.9], [colour, 2.6, 1]])) {
      pen.strokeStyle = style;
      pen.lineWidth = width;
      pen.globalAlpha = alpha;
      pen.beginPath();
      pen.moveTo(x1, y1);
      pen.quadraticCurveTo(cx, cy, x2, y2);
      pen.stroke();
    }
    const length = Math.hypot(x2 - cx, y2 - cy) || 1;
    pen.fillStyle = colour;
    drawArrow(pen, x2, y2, (x2 - cx) / length, (y2 - cy) / length, 11);
  }
  if (scene.visitor) drawVisitor(scene, scene.visitor);
}

/** @param {Scene} scene */
export function drawNumbers(scene) {
  // Who is on the path twice shows the newest number.
  for (const step of [...scene.path].reverse()) {
    const node = onPath(scene, step.creature);
    if (node) drawNumber(scene, node, step);
  }
}

/** A node on the path: a creature, or the visitor who is none. @param {Scene} scene @param {string|undefined} id */
const onPath = (scene, id) => (id === undefined ? undefined : (scene.layout.nodes.get(id) ?? (scene.visitor?.id === id ? scene.visitor : undefined)));

/** Somebody from outside: a dashed circle with a bolt. @param {Scene} scene @param {Node} node */
function drawVisitor(scene, node) {
  const { pen } = scene;
  const { x, y } = scene.at(node);
  const radius = radiusOf(scene, node);
  pen.beginPath();
  pen.arc(x, y, radius, 0, Math.PI * 2);
  pen.fillStyle = canvasColour("coral-2");
  pen.fill();
  pen.strokeStyle = pen.fillStyle = canvasColour("coral");
  pen.lineWidth = 1.8;
  pen.setLineDash([4, 4]);
  pen.stroke();
  pen.setLineDash([]);
  pen.lineJoin = "round";
  pen.beginPath();
  for (const [dx, dy] of [[0.1, -0.5], [-0.32, 0.1], [-0.02, 0.1], [-0.1, 0.5], [0.32, -0.1], [0.04, -0.1]]) pen.lineTo(x + dx * radius, y + dy * radius);
  pen.closePath();
  pen.stroke();
  pen.font = `620 13px ${family("sans")}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText("A visitor", x, y + radius + 16);
}

/** @param {Scene} scene @param {Node} node @param {PathStep} step */
function drawNumber(scene, node, { number, isDisturbance }) {
  const { pen } = scene;
  const radius = radiusOf(scene, node);
  const { x, y } = scene.at(node);
  const [cx, cy] = [x + radius * 0.86, y - radius * 0.86];
  pen.beginPath();
  pen.arc(cx, cy, 10.5, 0, Math.PI * 2);
  pen.fillStyle = canvasColour(isDisturbance ? "coral" : number === 1 ? "accent" : "ink");
  pen.fill();
  pen.strokeStyle = canvasColour("stage");
  pen.lineWidth = 2.5;
  pen.stroke();
  pen.fillStyle = canvasColour(isDisturbance || number !== 1 ? "surface" : "on-accent");
  pen.font = `600 11px ${family("mono")}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(String(number), cx, cy + 0.5);
}
