// @ts-check
/** Many creatures: dots, drawn together for each graph. */
import { canvasColour } from "page/colours";
import { drawName, drawNodeRings } from "page/graph/nodes";
import { radiusOf } from "page/graph/scene";

/**
 * @typedef {import("page/graph/scene").Scene} Scene
 * @typedef {import("page/graph/layout").Node} Node
 */

const linksFromScale = 0.15;

/** Many creatures: one path for all dots of a graph. @param {Scene} scene */
export function drawDots(scene) {
  const { pen, layout, motion } = scene;
  /** @type {Node[]} */
  const privileged = [];
  for (const circle of layout.circles.values()) {
    if (!circle.nodes.length) continue;
    pen.strokeStyle = pen.fillStyle = scene.colourOf(circle.nodes[0]);
    /** @type {Node[]} */
    const channels = [];
    if (scene.scale > linksFromScale) {
      pen.globalAlpha = 0.22;
      pen.lineWidth = 1;
      pen.beginPath();
      for (const link of circle.links) {
        const [a, b] = [scene.at(link.source), scene.at(link.target)];
        pen.moveTo(a.x, a.y);
        pen.lineTo(b.x, b.y);
      }
      pen.stroke();
      pen.globalAlpha = 1;
    }
    pen.beginPath();
    for (const node of circle.nodes) {
      if (node.kind === "channel") {
        channels.push(node);
        continue;
      }
      if (node.entry.is_privileged) privileged.push(node);
      const { x, y } = scene.at(node);
      const radius = Math.max(1.2, radiusOf(scene, node));
      pen.moveTo(x + radius, y);
      pen.arc(x, y, radius, 0, Math.PI * 2);
    }
    pen.fill();
    pen.fillStyle = canvasColour("ink-2");
    pen.beginPath();
    for (const node of channels) {
      const { x, y } = scene.at(node);
      const side = Math.max(1.2, radiusOf(scene, node) * 0.8);
      pen.rect(x - side, y - side, side * 2, side * 2);
    }
    pen.fill();
  }
  pen.strokeStyle = canvasColour("gold-mark");
  pen.lineWidth = 1.2;
  pen.beginPath();
  for (const node of privileged) {
    const { x, y } = scene.at(node);
    const radius = Math.max(1.2, radiusOf(scene, node)) + 2;
    pen.moveTo(x + radius, y);
    pen.arc(x, y, radius, 0, Math.PI * 2);
  }
  pen.stroke();
  const marked = new Set([scene.hovered, scene.selected, scene.focused, scene.target, ...motion.rings().map(({ node }) => node ?? ""), ...motion.highlights.keys(), ...Object.keys(scene.thinking)]);
  for (const id of marked) {
    const node = layout.nodes.get(id);
    if (node) drawNodeRings(scene, node);
  }
  for (const id of new Set([scene.hovered, scene.selected, scene.focused])) {
    const node = layout.nodes.get(id);
    if (node) drawName(scene, node);
  }
}
