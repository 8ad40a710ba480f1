// @ts-check
/** What is drawn: the parts of a picture at one moment, and how large its nodes are. */
import { easeOut, progress } from "page/graph/motion";

/**
 * @typedef {import("page/graph/layout").Node} Node
 * @typedef {import("page/graph/layout").Link} Link
 * @typedef {{x: number, y: number}} Point
 * @typedef {{pen: CanvasRenderingContext2D, width: number, height: number, ratio: number, now: number, scale: number,
 *   layout: ReturnType<typeof import("page/graph/layout").makeLayout>, motion: ReturnType<typeof import("page/graph/motion").makeMotion>,
 *   toCanvas(point: Point): Point, at(node: Node): Point, colourOf(node: Node): string, hulls: Hull[], slots: Map<string, string>,
 *   hovered: string, selected: string, focused: string, target: string, thinking: {[id: string]: any}, blinking: string, isReduced: boolean,
 *   stems: Stem[], path: PathStep[], visitor: Node|null, ghosts: Ghost[], handle: Point|null, areNamesShown: boolean}} Scene
 * @typedef {{id: string, name: string, count: number, colour: string, points: Point[], nodes: Node[], alpha: number, isLit: boolean}} Hull
 * @typedef {{from: Point, to: Point, colour: string, width: number}} Stem from a bubble to the face that says it
 * @typedef {{creature: string, number: number, from?: string, isDisturbance?: boolean}} PathStep
 * @typedef {{from: Point, to: Point, isRefused: boolean, isCut: boolean, colour: string}} Ghost
 */

export const creatureRadius = 25;
export const channelRadius = 12;
const dotRadius = 13;

/** The radius of a node on the canvas. @param {Scene} scene @param {Node} node */
export function radiusOf(scene, node) {
  const grown = grownShare(scene, node.id);
  if (scene.layout.areDots()) return (node.kind === "channel" ? 7 : dotRadius) * Math.min(scene.scale, 1.4) * grown;
  return (node.kind === "channel" ? Math.max(5, channelRadius * Math.min(1.15, scene.scale)) : creatureRadius * scene.scale) * grown;
}

/** How much of its size a node has while it comes. @param {Scene} scene @param {string} id */
export function grownShare({ motion, now }, id) {
  const born = motion.births.get(id);
  return born === undefined ? 1 : easeOut(progress(now, born, motion.times.birth));
}

/** @param {"sans"|"mono"} name */
export const family = (name) => (name === "sans" ? '"Inter Variable", system-ui, sans-serif' : '"JetBrains Mono Variable", ui-monospace, monospace');

/** Who has no part in a path that is shown, is dimmed; so is who is stopped. @param {Scene} scene @param {Node} node */
export function alphaOf({ path }, node) {
  if (path.length && node.kind === "creature" && !path.some(({ creature }) => creature === node.id)) return 0.42;
  return node.kind === "creature" && !node.entry.is_running ? 0.5 : 1;
}
