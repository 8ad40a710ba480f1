// @ts-check
/** The geometry of the graph's picture: hulls round creatures, and the order of points on them. */

/** @typedef {{x: number, y: number}} Point */

const pointsRoundNode = 36;
const manyNodes = 24;
const nameRound = 24;

/**
 * The convex hull of some points, counter-clockwise.
 * @param {Point[]} points
 * @returns {Point[]}
 */
export function convexHull(points) {
  const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
  if (sorted.length < 3) return sorted;
  const half = (/** @type {Point[]} */ some) => {
    /** @type {Point[]} */
    const hull = [];
    for (const point of some) {
      while (hull.length >= 2 && turn(hull[hull.length - 2], hull[hull.length - 1], point) <= 0) hull.pop();
      hull.push(point);
    }
    hull.pop();
    return hull;
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

/** Twice the area of a triangle: positive for a turn to the left. @param {Point} a @param {Point} b @param {Point} c */
function turn(a, b, c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/** Points round a node, as shares of its padding. */
const around = Array.from({ length: pointsRoundNode }, (_, at) => {
  const angle = (at / pointsRoundNode) * Math.PI * 2;
  return { x: Math.cos(angle), y: Math.sin(angle) };
});

/**
 * The hull of a graph: round every node a padded circle and room for its name below, and round those a hull.
 * @param {(Point & {pad: number, half?: number, low?: number})[]} nodes half: half the width of the name, low: how far below it ends
 * @returns {Point[]}
 */
export function hullOf(nodes) {
  // Of many nodes only those on the outside matter: their paddings hardly differ.
  const outer = nodes.length > manyNodes ? /** @type {(Point & {pad: number})[]} */ (convexHull(nodes)) : nodes;
  const each = nodes.length > manyNodes ? 4 : 1;
  /** @type {Point[]} */
  const points = [];
  for (const { x, y, pad } of outer) for (let at = 0; at < pointsRoundNode; at += each) points.push({ x: x + around[at].x * pad, y: y + around[at].y * pad });
  for (const { x, y, half = 0, low = 0 } of nodes) {
    if (half <= nameRound) continue;
    for (const side of [x - half + nameRound, x + half - nameRound]) for (let at = 0; at < pointsRoundNode; at += 2) points.push({ x: side + around[at].x * nameRound, y: y + low - nameRound + around[at].y * nameRound });
  }
  return convexHull(points);
}

/** The area of a hull. @param {Point[]} hull */
export const areaOf = (hull) => Math.abs(hull.reduce((sum, { x, y }, at) => sum + x * hull[(at + 1) % hull.length].y - y * hull[(at + 1) % hull.length].x, 0)) / 2;

/**
 * Whether a point is inside a hull.
 * @param {Point[]} hull
 * @param {Point} point
 */
export function isInside(hull, point) {
  return hull.length > 2 && hull.every((corner, at) => turn(corner, hull[(at + 1) % hull.length], point) >= 0);
}
