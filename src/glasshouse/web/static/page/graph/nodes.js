// @ts-check
/** Nodes of the picture: faces, crowns, diamonds, the rings round them and their names. */
import { canvasColour, theme } from "page/colours";
import { drawFace, faceOf } from "page/faces";
import { labelPoint } from "page/graph/labels";
import { easeOut, progress } from "page/graph/motion";
import { alphaOf, family, radiusOf, grownShare } from "page/graph/scene";
import { firstChars } from "page/plain";

/**
 * @typedef {import("page/graph/scene").Scene} Scene
 * @typedef {import("page/graph/layout").Node} Node
 * @typedef {import("page/graph/scene").Point} Point
 */

const goldCrown = [-0.52, 0, -0.58, -0.62, -0.27, -0.3, 0, -0.78, 0.27, -0.3, 0.58, -0.62, 0.52, 0];

/** @param {Scene} scene @param {Node} node @param {Point} point @param {number} radius */
export function drawDiamond(scene, node, { x, y }, radius) {
  const { pen } = scene;
  const side = radius * 0.76;
  pen.save();
  pen.translate(x, y);
  pen.rotate(Math.PI / 4);
  pen.beginPath();
  pen.roundRect(-side, -side, side * 2, side * 2, side * 0.36);
  pen.restore();
  pen.fillStyle = canvasColour(theme.value === "dark" ? "stage" : "surface");
  pen.fill();
  pen.strokeStyle = scene.colourOf(node);
  pen.lineWidth = Math.max(1.4, radius * 0.19);
  pen.stroke();
}

/** @param {Scene} scene @param {Node} node */
export function drawCreature(scene, node) {
  const { pen } = scene;
  const radius = radiusOf(scene, node);
  const point = scene.at(node);
  drawSprite(scene, node, point, radius);
  if (node.entry.is_privileged) drawCrown(scene, point, radius);
  if (node.entry.error) {
    pen.fillStyle = canvasColour("coral");
    pen.strokeStyle = canvasColour("stage");
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(point.x + radius * 0.74, point.y - radius * 0.7, Math.max(3, radius * 0.19), 0, Math.PI * 2);
    pen.fill();
    pen.stroke();
  }
}

/** Faces are drawn once for each look and size: shadows are dear. @type {Map<string, HTMLCanvasElement>} */
const sprites = new Map();

const spritePixelsMax = 8_000_000;
let spritePixels = 0;

/** @param {Scene} scene @param {Node} node @param {Point} point @param {number} radius */
export function drawSprite(scene, node, { x, y }, radius) {
  if (radius < 1) return;
  const isOpen = scene.motion.mouths.has(node.id);
  const isBlinking = scene.blinking === node.id;
  const colour = scene.colourOf(node);
  const drawnRadius = Math.max(4, Math.round(radius));
  const key = `${node.entry.handle ?? node.id} ${colour} ${drawnRadius} ${isOpen} ${isBlinking} ${theme.value} ${scene.ratio}`;
  const reach = Math.ceil(drawnRadius * 1.5 + 12);
  let sprite = sprites.get(key);
  if (!sprite) {
    if (spritePixels > spritePixelsMax) forgetFaces();
    sprite = document.createElement("canvas");
    sprite.width = sprite.height = Math.ceil(reach * 2 * scene.ratio);
    spritePixels += sprite.width * sprite.height;
    const pen = /** @type {CanvasRenderingContext2D} */ (sprite.getContext("2d"));
    pen.scale(scene.ratio, scene.ratio);
    const shadow = theme.value === "dark" ? { colour: `${colour}88`, blur: 13 * scene.ratio, y: 0 } : { colour: "rgb(16 40 48 / .26)", blur: 8 * scene.ratio, y: 2.5 * scene.ratio };
    drawFace(pen, faceOf(node.entry.handle ?? node.id), reach, reach, drawnRadius, colour, { isOpen, isBlinking, shadow });
    sprites.set(key, sprite);
  }
  const shown = (reach * radius) / drawnRadius;
  scene.pen.drawImage(sprite, x - shown, y - shown, shown * 2, shown * 2);
}

/** Forget the faces that were drawn: there are too many, or colours are others. */
export function forgetFaces() {
  sprites.clear();
  spritePixels = 0;
}

/** A crown, and a ring that is open where it sits. @param {Scene} scene @param {Point} point @param {number} radius */
function drawCrown({ pen }, { x, y }, radius) {
  pen.strokeStyle = pen.fillStyle = canvasColour("gold-mark");
  pen.lineWidth = Math.max(1.2, radius * 0.085);
  pen.lineCap = "round";
  pen.beginPath();
  pen.arc(x, y, radius * 1.36, -Math.PI / 2 + 0.52, Math.PI * 1.5 - 0.52);
  pen.stroke();
  pen.beginPath();
  for (let at = 0; at < goldCrown.length; at += 2) pen.lineTo(x + goldCrown[at] * radius, y - radius * 1.2 + goldCrown[at + 1] * radius);
  pen.closePath();
  pen.lineJoin = "round";
  pen.fill();
}

/** The rings round a node: speaking, thinking, selected, focused. @param {Scene} scene @param {Node} node */
export function drawNodeRings(scene, node) {
  const { pen, now, motion } = scene;
  const { x, y } = scene.at(node);
  const radius = radiusOf(scene, node) * (node.entry.is_privileged && !scene.layout.areDots() ? 1.36 : 1);
  const circle = (/** @type {number} */ reach, /** @type {string} */ colour, /** @type {number} */ alpha, /** @type {number} */ width) => {
    pen.strokeStyle = colour;
    pen.globalAlpha = alpha;
    pen.lineWidth = width;
    pen.beginPath();
    pen.arc(x, y, Math.max(0, reach), 0, Math.PI * 2);
    pen.stroke();
    pen.globalAlpha = 1;
  };
  for (const ring of motion.rings()) {
    if (ring.node !== node.id) continue;
    const share = progress(now, ring.start, ring.milliseconds);
    circle(radius * (1.1 + 1.15 * easeOut(share)), scene.colourOf(node), 0.62 * (1 - share), 2.4);
  }
  if (node.kind === "creature" && scene.thinking[node.id]) {
    const beat = scene.isReduced ? 0.5 : 0.5 + 0.5 * Math.sin(now / 640);
    circle(radius * (1.22 + 0.16 * beat), scene.colourOf(node), 0.3 + 0.32 * (1 - beat), 2);
  }
  if (motion.highlights.has(node.id)) circle(radius + 8, canvasColour("accent"), 0.9, 3);
  if (scene.target === node.id) circle(radius + 9, canvasColour("accent"), 1, 3);
  else if (scene.selected === node.id) circle(radius + 6, canvasColour("ink"), 0.85, 2);
  else if (scene.hovered === node.id) circle(radius + 6, scene.colourOf(node), 0.5, 1.5);
  if (scene.focused === node.id) {
    circle(radius + 9, canvasColour("stage"), 1, 5);
    circle(radius + 9, canvasColour("accent"), 1, 2.5);
  }
}

/** Whether the name of a node is shown. @param {Scene} scene @param {Node} node */
export const hasName = (scene, node) => scene.areNamesShown || [scene.hovered, scene.selected, scene.focused].includes(node.id) || scene.motion.mouths.has(node.id);

/** @param {Scene} scene @param {Node} node */
export function namedNode(scene, node) {
  const { x, y } = scene.at(node);
  const radius = radiusOf(scene, node);
  scene.pen.font = fontOf(scene, node);
  const judge = node.entry.role === "judge" ? 18 : 0;
  const isPrivileged = node.entry.is_privileged;
  return { id: node.id, x, y, r: radius * (isPrivileged ? 1.42 : 1), above: isPrivileged ? radius * 0.5 : 0, width: scene.pen.measureText(shortName(node)).width + judge, isChannel: node.kind === "channel" };
}

/** @param {Node} node */
const shortName = (node) => firstChars(node.label, node.kind === "channel" ? 18 : 26);

/** @param {Scene} scene @param {Node} node */
function fontOf(scene, node) {
  const size = scene.scale > 0.85 ? 13 : scene.scale > 0.65 ? 12 : 11;
  return node.kind === "channel" ? `560 ${size - 0.5}px ${family("mono")}` : `620 ${size}px ${family("sans")}`;
}

/** @param {Scene} scene @param {Node} node */
export function drawName(scene, node) {
  if (!hasName(scene, node)) return;
  const { pen } = scene;
  const named = namedNode(scene, node);
  const point = labelPoint(named, scene.slots.get(node.id) ?? "below");
  const judge = node.entry.role === "judge" ? 18 : 0;
  pen.globalAlpha = Math.min(grownShare(scene, node.id), alphaOf(scene, node) < 0.5 ? 0.62 : 1);
  pen.font = fontOf(scene, node);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  pen.lineWidth = 4;
  pen.strokeStyle = canvasColour("stage");
  pen.strokeText(shortName(node), point.x + judge / 2, point.y);
  pen.fillStyle = node.kind === "channel" ? canvasColour("ink-3") : canvasColour("ink");
  pen.fillText(shortName(node), point.x + judge / 2, point.y);
  if (judge) drawBalance(pen, point.x - named.width / 2 + 6, point.y);
  pen.globalAlpha = 1;
}

/** The balance of a judge. @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y */
function drawBalance(pen, x, y) {
  pen.strokeStyle = canvasColour("gold-mark");
  pen.lineWidth = 1.5;
  pen.lineCap = "round";
  pen.beginPath();
  for (const [x1, y1, x2, y2] of [[0, -5.5, 0, 5.5], [-3, 5.5, 3, 5.5], [-5, -3.5, 5, -3.5], [-5, -3.5, -7, 1], [-5, -3.5, -3, 1], [5, -3.5, 7, 1], [5, -3.5, 3, 1], [-7, 1, -3, 1], [3, 1, 7, 1]]) {
    pen.moveTo(x + x1, y + y1);
    pen.lineTo(x + x2, y + y2);
  }
  pen.stroke();
}
