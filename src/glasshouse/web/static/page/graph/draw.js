// @ts-check
/** The picture of the graph, drawn on a canvas: hulls, then what is in them, then names and what moves. */
import { canvasColour, theme } from "page/colours";
import { drawDots } from "page/graph/dots";
import { drawEdge, drawGhosts, drawPulses, drawWire } from "page/graph/edges";
import { easeOut, progress } from "page/graph/motion";
import { drawCreature, drawDiamond, drawName, drawNodeRings, drawSprite } from "page/graph/nodes";
import { drawNumbers, drawPath } from "page/graph/path_arrows";
import { alphaOf, channelRadius, creatureRadius, family, radiusOf } from "page/graph/scene";
import { firstChars } from "page/plain";

/**
 * @typedef {import("page/graph/scene").Scene} Scene
 * @typedef {import("page/graph/scene").Hull} Hull
 */

/** @param {Scene} scene */
export function drawPicture(scene) {
  const { pen, width, height, ratio } = scene;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  for (const hull of scene.hulls) drawHull(scene, hull);
  for (const stem of scene.stems) drawStem(scene, stem);
  if (scene.layout.areDots()) drawDots(scene);
  else drawFaces(scene);
  for (const hull of scene.hulls) drawPill(scene, hull);
  if (scene.layout.areDots()) drawPulses(scene);
  drawStageRings(scene);
  drawNumbers(scene);
  drawGhosts(scene);
}

/** @param {Scene} scene @param {Hull} hull */
function drawHull({ pen, toCanvas, layout, path, motion }, hull) {
  if (hull.points.length < 3) return;
  pen.beginPath();
  for (const point of hull.points) {
    const { x, y } = toCanvas(point);
    pen.lineTo(x, y);
  }
  pen.closePath();
  pen.fillStyle = hull.colour;
  pen.globalAlpha = (hull.isLit ? 0.2 : theme.value === "dark" ? 0.13 : 0.12) * hull.alpha;
  pen.fill();
  pen.strokeStyle = hull.colour;
  const isMarked = hull.isLit || motion.highlights.has(hull.id);
  pen.globalAlpha = (isMarked ? 1 : path.length ? 0.4 : 0.5) * hull.alpha;
  pen.lineWidth = isMarked ? 2.5 : layout.areDots() ? 1 : 1.4;
  pen.lineJoin = "round";
  pen.stroke();
  pen.globalAlpha = 1;
}

/** A stem goes behind faces and names. @param {Scene} scene @param {import("page/graph/scene").Stem} stem */
function drawStem({ pen }, { from, to, colour, width }) {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.lineCap = "round";
  pen.beginPath();
  pen.moveTo(from.x, from.y);
  pen.lineTo(to.x, to.y);
  pen.stroke();
}

const nameFont = `620 11.5px ${family("sans")}`;
const countFont = `500 11px ${family("mono")}`;
const pillHeight = 21;
const graphNameChars = 24;

/** Where the name of a graph stands: on the top of its hull. @param {Scene} scene @param {Hull} hull */
export function pillBox({ pen, toCanvas, layout, scale: zoom }, hull) {
  const { x, y } = toCanvas(hull.points.reduce((best, point) => (point.y < best.y ? point : best)));
  // A pill does not shrink with the picture: it makes way for a crown below it.
  const middle = layout.areDots() ? y : y - 14 * Math.max(0, 1 - zoom);
  pen.font = nameFont;
  const nameWidth = pen.measureText(firstChars(hull.name, graphNameChars)).width;
  pen.font = countFont;
  const width = nameWidth + pen.measureText(String(hull.count)).width + 27;
  return { left: x - width / 2, right: x + width / 2, top: middle - pillHeight / 2, bottom: middle + pillHeight / 2, nameWidth };
}

/** The name of a graph with the number of its creatures. @param {Scene} scene @param {Hull} hull */
function drawPill(scene, hull) {
  const { pen, layout } = scene;
  if (hull.points.length < 3 || hull.alpha < 1 || (layout.areDots() && scene.scale < 0.5 && !hull.isLit)) return;
  const { left, right, top, nameWidth } = pillBox(scene, hull);
  pen.beginPath();
  pen.roundRect(left, top, right - left, pillHeight, pillHeight / 2);
  pen.fillStyle = canvasColour("surface");
  pen.fill();
  pen.fillStyle = hull.colour;
  if (theme.value === "dark") {
    pen.globalAlpha = 0.16;
    pen.fill();
  }
  pen.globalAlpha = 0.8;
  pen.strokeStyle = hull.colour;
  pen.lineWidth = 1.4;
  pen.stroke();
  pen.globalAlpha = 1;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.font = nameFont;
  pen.fillStyle = inkOf(hull.colour);
  pen.fillText(firstChars(hull.name, graphNameChars), left + 10, top + pillHeight / 2 + 0.5);
  pen.font = countFont;
  pen.fillStyle = canvasColour("ink-3");
  pen.fillText(String(hull.count), left + 17 + nameWidth, top + pillHeight / 2 + 0.5);
}

/** Text in a graph's colour: darker in the light, lighter in the dark. @param {string} colour */
const inkOf = (colour) => tinted(colour, theme.value === "dark" ? "#ffffff" : "#000000", theme.value === "dark" ? 0.35 : 0.32);

/** @type {Map<string, string>} */
const tints = new Map();

/** @param {string} colour @param {string} other @param {number} share */
function tinted(colour, other, share) {
  const key = `${colour}${other}${share}`;
  let mix = tints.get(key);
  if (!mix) {
    if (tints.size > 2000) tints.clear();
    const part = (/** @type {string} */ hex, /** @type {number} */ at) => parseInt(hex.slice(at, at + 2), 16);
    mix = `rgb(${[1, 3, 5].map((at) => Math.round(part(colour, at) * (1 - share) + part(other, at) * share)).join(" ")})`;
    tints.set(key, mix);
  }
  return mix;
}

/** @param {Scene} scene */
function drawFaces(scene) {
  const links = scene.layout.links();
  for (const link of links) if (!link.isWire) drawEdge(scene, link);
  for (const link of links) if (link.isWire) drawWire(scene, link);
  drawPulses(scene);
  drawPath(scene);
  for (const node of scene.layout.nodes.values()) drawNodeRings(scene, node);
  for (const { node, start } of scene.motion.deaths.values()) {
    const left = 1 - progress(scene.now, start, scene.motion.times.death);
    if (node.kind === "creature") drawSprite(scene, node, scene.toCanvas(node), creatureRadius * scene.scale * left);
    else drawDiamond(scene, node, scene.toCanvas(node), channelRadius * left);
  }
  for (const node of scene.layout.nodes.values()) {
    scene.pen.globalAlpha = alphaOf(scene, node);
    if (node.kind === "channel") drawDiamond(scene, node, scene.at(node), radiusOf(scene, node));
    else drawCreature(scene, node);
    scene.pen.globalAlpha = 1;
  }
  for (const node of scene.layout.nodes.values()) drawName(scene, node);
}

/** Rings over the whole stage: a merge or a split, and a disturbance. @param {Scene} scene */
function drawStageRings({ pen, motion, now, layout, toCanvas, width, height, scale: zoom }) {
  for (const ring of motion.rings()) {
    if (ring.node) continue;
    const share = progress(now, ring.start, ring.milliseconds);
    const circle = ring.graph ? layout.circles.get(ring.graph) : undefined;
    const centre = circle ? toCanvas(circle) : { x: width / 2, y: height / 2 };
    const reach = circle ? circle.r * zoom * (0.6 + 1.1 * easeOut(share)) : Math.hypot(width, height) * 0.55 * easeOut(share);
    pen.strokeStyle = canvasColour(ring.kind === "disturbance" ? "coral" : "ink-3");
    pen.globalAlpha = (ring.kind === "disturbance" ? 0.85 : 0.6) * (1 - share);
    pen.lineWidth = ring.kind === "disturbance" ? 5 - 3 * share : 2;
    pen.beginPath();
    pen.arc(centre.x, centre.y, Math.max(0, reach), 0, Math.PI * 2);
    pen.stroke();
  }
  if (motion.highlights.has("")) {
    pen.strokeStyle = canvasColour("coral");
    pen.globalAlpha = 0.8;
    pen.lineWidth = 4;
    pen.strokeRect(3, 3, width - 6, height - 6);
  }
  pen.globalAlpha = 1;
}
