// @ts-check
/** The picture of the graph, drawn on a canvas: ground, hulls, edges, wires, faces, names, and what moves. */
import { canvasColour, theme } from "page/colours";
import { drawFace, faceOf } from "page/faces";
import { labelPoint } from "page/graph/labels";
import { easeOut, progress } from "page/graph/motion";
import { firstChars } from "page/plain";

/**
 * @typedef {import("page/graph/layout").Node} Node
 * @typedef {import("page/graph/layout").Link} Link
 * @typedef {{x: number, y: number}} Point
 * @typedef {{pen: CanvasRenderingContext2D, width: number, height: number, ratio: number, now: number, scale: number,
 *   layout: ReturnType<typeof import("page/graph/layout").makeLayout>, motion: ReturnType<typeof import("page/graph/motion").makeMotion>,
 *   toCanvas(point: Point): Point, at(node: Node): Point, colourOf(node: Node): string, hulls: Hull[], slots: Map<string, string>,
 *   hovered: string, selected: string, focused: string, target: string, thinking: {[id: string]: any}, blinking: string, isReduced: boolean,
 *   path: PathStep[], visitor: Node|null, ghosts: Ghost[], handle: Point|null, areNamesShown: boolean}} Scene
 * @typedef {{id: string, name: string, count: number, colour: string, points: Point[], nodes: Node[], alpha: number, isLit: boolean}} Hull
 * @typedef {{creature: string, number: number, from?: string, isDisturbance?: boolean}} PathStep
 * @typedef {{from: Point, to: Point, isRefused: boolean, isCut: boolean, colour: string}} Ghost
 */

export const creatureRadius = 25;
export const channelRadius = 12;
const dotRadius = 13;
const goldCrown = [-0.52, 0, -0.58, -0.62, -0.27, -0.3, 0, -0.78, 0.27, -0.3, 0.58, -0.62, 0.52, 0];

/** The radius of a node on the canvas. @param {Scene} scene @param {Node} node */
export function radiusOf(scene, node) {
  const grown = scale(scene, node.id);
  if (scene.layout.areDots()) return (node.kind === "channel" ? 7 : dotRadius) * Math.min(scene.scale, 1.4) * grown;
  return (node.kind === "channel" ? Math.max(5, channelRadius * Math.min(1.15, scene.scale)) : creatureRadius * scene.scale) * grown;
}

/** How much of its size a node has while it comes. @param {Scene} scene @param {string} id */
function scale({ motion, now }, id) {
  const born = motion.births.get(id);
  return born === undefined ? 1 : easeOut(progress(now, born, motion.times.birth));
}

/** @param {Scene} scene */
export function drawPicture(scene) {
  const { pen, width, height, ratio } = scene;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  for (const hull of scene.hulls) drawHull(scene, hull);
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

/** The name of a graph with the number of its creatures, on the top of its hull. @param {Scene} scene @param {Hull} hull */
function drawPill({ pen, toCanvas, layout, scale: zoom }, hull) {
  if (hull.points.length < 3 || hull.alpha < 1 || (layout.areDots() && zoom < 0.5 && !hull.isLit)) return;
  const top = toCanvas(hull.points.reduce((best, point) => (point.y < best.y ? point : best)));
  // A pill does not shrink with the picture: it makes way for a crown below it.
  if (!layout.areDots()) top.y -= 14 * Math.max(0, 1 - zoom);
  const name = firstChars(hull.name, 24);
  pen.font = `620 11.5px ${family("sans")}`;
  const nameWidth = pen.measureText(name).width;
  pen.font = `500 11px ${family("mono")}`;
  const count = String(hull.count);
  const countWidth = pen.measureText(count).width;
  const width = nameWidth + countWidth + 27;
  const left = top.x - width / 2;
  pen.beginPath();
  pen.roundRect(left, top.y - 10.5, width, 21, 10.5);
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
  pen.font = `620 11.5px ${family("sans")}`;
  pen.fillStyle = inkOf(hull.colour);
  pen.fillText(name, left + 10, top.y + 0.5);
  pen.font = `500 11px ${family("mono")}`;
  pen.fillStyle = canvasColour("ink-3");
  pen.fillText(count, left + 17 + nameWidth, top.y + 0.5);
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

/** @param {"sans"|"mono"} name */
export const family = (name) => (name === "sans" ? '"Inter Variable", system-ui, sans-serif' : '"JetBrains Mono Variable", ui-monospace, monospace');

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

/** Who has no part in a path that is shown, is dimmed; so is who is stopped. @param {Scene} scene @param {Node} node */
function alphaOf({ path }, node) {
  if (path.length && node.kind === "creature" && !path.some(({ creature }) => creature === node.id)) return 0.42;
  return node.kind === "creature" && !node.entry.is_running ? 0.5 : 1;
}

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
function drawEdge(scene, link) {
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
function drawArrow(pen, x, y, ux, uy, size) {
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
function drawWire(scene, link) {
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

/** @param {Scene} scene @param {Node} node @param {Point} point @param {number} radius */
function drawDiamond(scene, node, { x, y }, radius) {
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
function drawCreature(scene, node) {
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
function drawSprite(scene, node, { x, y }, radius) {
  if (radius < 1) return;
  const isOpen = scene.motion.mouths.has(node.id);
  const isBlinking = scene.blinking === node.id;
  const colour = scene.colourOf(node);
  const drawnRadius = Math.max(4, Math.round(radius));
  const key = `${node.id} ${colour} ${drawnRadius} ${isOpen} ${isBlinking} ${theme.value} ${scene.ratio}`;
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
function drawNodeRings(scene, node) {
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
function drawName(scene, node) {
  if (!hasName(scene, node)) return;
  const { pen } = scene;
  const named = namedNode(scene, node);
  const point = labelPoint(named, scene.slots.get(node.id) ?? "below");
  const judge = node.entry.role === "judge" ? 18 : 0;
  pen.globalAlpha = Math.min(scale(scene, node.id), alphaOf(scene, node) < 0.5 ? 0.62 : 1);
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

/** Many creatures: one path for all dots of a graph. @param {Scene} scene */
function drawDots(scene) {
  const { pen, layout, motion } = scene;
  /** @type {Node[]} */
  const privileged = [];
  for (const circle of layout.circles.values()) {
    if (!circle.nodes.length) continue;
    pen.strokeStyle = pen.fillStyle = scene.colourOf(circle.nodes[0]);
    /** @type {Node[]} */
    const channels = [];
    if (scene.scale > 0.09) {
      pen.globalAlpha = 0.22;
      pen.lineWidth = 1;
      pen.beginPath();
      for (const link of layout.links()) {
        if (link.target.graph !== circle.id) continue;
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

/** @param {Scene} scene */
function drawPulses(scene) {
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

/** How one thing led to another: arrows from cause to effect. @param {Scene} scene */
function drawPath(scene) {
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
function drawNumbers(scene) {
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

/** Lines that somebody draws or tears with the pointer, and the handle that offers it. @param {Scene} scene */
function drawGhosts({ pen, ghosts, handle }) {
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
