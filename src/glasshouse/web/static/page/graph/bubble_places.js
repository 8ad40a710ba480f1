// @ts-check
/**
 * Where bubbles stand. The newest has a band of its own above the graphs; an older one stands where nothing else is, or nowhere.
 * All lengths are pixels of the panel.
 *
 * @typedef {{left: number, top: number, right: number, bottom: number}} Box
 * @typedef {{x: number, y: number}} Point
 * @typedef {{width: number, height: number}} Size
 */
import { isInside } from "page/graph/geometry";

/** The band of the newest line: the graphs stand below it. In a low panel it is a smaller share, so that they can be seen. */
const band = { top: 50, bottom: 250, shareMax: 0.44 };
/** Between a bubble and the edge of the panel, or anything else. */
export const margin = 12;
const gap = 6;
/** Widths to try, in this order: the first one in which a line is low enough. */
const widths = [220, 314, 460, 668];
const olderHeightMax = 164;
/** Where an older bubble is tried beside its face: N, NE, NW, E, W, SE, SW, S, at growing distances. */
const directions = [[0, -1], [1, -1], [-1, -1], [1, 0], [-1, 0], [1, 1], [-1, 1], [0, 1]];
const distances = [14, 60, 120, 180];
const bandStep = 24;
/** How far to the side of its face a stem may begin, and in which steps that is tried. */
const stemStep = 22;
/** What it costs a stem to go behind a face, in pixels that it would rather lean. */
const crossingCost = 1000;
const cornerPixels = 24;

/** The band in a panel of a height. @param {number} height */
export function bandIn(height) {
  return { top: band.top, bottom: Math.max(band.top + 60, Math.min(band.bottom, Math.round(height * band.shareMax))) };
}

/** The widths that a bubble may have in a panel. @param {number} panelWidth */
export function widthsIn(panelWidth) {
  const most = Math.max(120, Math.min(widths[widths.length - 1], panelWidth - 2 * margin));
  return [...widths.filter((width) => width < most), most];
}

/**
 * The first width in which a text is low enough, and its height then; the widest if it is in none.
 * @param {number[]} some @param {(width: number) => number} heightAt @param {number} heightMax @returns {Size}
 */
export function sizeOf(some, heightAt, heightMax) {
  let size = { width: some[0], height: Infinity };
  for (const width of some) {
    size = { width, height: heightAt(width) };
    if (size.height <= heightMax) break;
  }
  return size;
}

/** The sizes in which an older bubble may stand: those that are low enough. @param {number[]} some @param {(width: number) => number} heightAt @returns {Size[]} */
export const olderSizes = (some, heightAt) => some.filter((width) => width <= 460).map((width) => ({ width, height: heightAt(width) })).filter(({ height }) => height <= olderHeightMax);

/** Where the newest bubble stands: at the lower end of its band, centred over its face. @param {Size} size @param {Point} face @param {Size} panel @returns {Box} */
export function newestBox(size, face, panel) {
  const { top, bottom } = bandIn(panel.height);
  const height = Math.min(size.height, bottom - top);
  const left = clamp(face.x - size.width / 2, margin, panel.width - margin - size.width);
  return { left, right: left + size.width, top: bottom - height, bottom };
}

/**
 * Where the stem of a bubble begins on its lower edge: as straight above the face as possible without crossing another one.
 * @param {Box} bubble @param {Point} end @param {Box[]} faces
 */
export function stemStart(bubble, end, faces) {
  const [low, high] = [bubble.left + cornerPixels, bubble.right - cornerPixels];
  let [best, least] = [clamp(end.x, low, high), Infinity];
  for (let far = 0; far <= high - low; far += stemStep) {
    for (const x of far ? [end.x - far, end.x + far] : [end.x]) {
      const from = { x: clamp(x, low, high), y: bubble.bottom };
      const crossed = faces.filter((box) => isCrossed(box, from, end)).length;
      const cost = crossed * crossingCost + Math.abs(from.x - end.x);
      if (cost < least) [best, least] = [from.x, cost];
    }
  }
  return best;
}

/**
 * Where an older bubble stands: beside its face, else in the rest of the band, else over a hull; null where there is no room.
 * @param {Size[]} sizes that it may have, the best first
 * @param {Point & {r: number}} face
 * @param {{panel: Size, obstacles: Box[], hulls: Point[][], bottom: number}} around bottom: where the room ends
 * @returns {Box|null}
 */
export function olderBox(sizes, face, around) {
  const { panel, obstacles, hulls, bottom } = around;
  const room = { left: margin, top: band.top, right: panel.width - margin, bottom };
  const isFree = (/** @type {Box} */ box) => isWithin(box, room) && !obstacles.some((other) => overlap(box, other, gap));
  const besides = sizes.flatMap((size) => besideFace(size, face));
  const free = besides.filter(isFree);
  const isOverHull = (/** @type {Box} */ box) => hulls.some((hull) => isOnHull(box, hull));
  return free.find((box) => !isOverHull(box)) ?? sizes.flatMap((size) => inBand(size, face, panel)).find((box) => isFree(box) && !isOverHull(box)) ?? free[0] ?? null;
}

/** @param {Size} size @param {Point & {r: number}} face @returns {Box[]} */
function besideFace({ width, height }, face) {
  return distances.flatMap((distance) =>
    directions.map(([dx, dy]) => {
      const far = face.r + distance;
      const x = face.x + dx * (far + width / 2) - (dx && dy ? dx * (width / 2) * 0.4 : 0);
      const y = face.y + dy * (far + height / 2);
      return { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
    }),
  );
}

/** Places in the band, those near a face first. @param {Size} size @param {Point} face @param {Size} panel @returns {Box[]} */
function inBand({ width, height }, face, panel) {
  const { top, bottom } = bandIn(panel.height);
  /** @type {Box[]} */
  const boxes = [];
  if (height > bottom - top) return boxes;
  for (let left = margin; left + width <= panel.width - margin; left += bandStep) boxes.push({ left, right: left + width, top: bottom - height, bottom });
  const far = (/** @type {Box} */ { left }) => Math.abs(left + width / 2 - face.x);
  return boxes.sort((a, b) => far(a) - far(b));
}

/** @param {number} value @param {number} low @param {number} high */
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

/** @param {Box} box @param {Box} room */
const isWithin = (box, room) => box.left >= room.left && box.right <= room.right && box.top >= room.top && box.bottom <= room.bottom;

/** Whether two boxes share anything, or are nearer than a space. @param {Box} a @param {Box} b @param {number} [space] */
export const overlap = (a, b, space = 0) => a.left < b.right + space && b.left < a.right + space && a.top < b.bottom + space && b.top < a.bottom + space;

/** Whether a box lies on a hull: any of nine points of it, or a corner of the hull in it. @param {Box} box @param {Point[]} hull */
function isOnHull(box, hull) {
  const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const points = [box.left, x, box.right].flatMap((at) => [box.top, y, box.bottom].map((down) => ({ x: at, y: down })));
  return points.some((point) => isInside(hull, point)) || hull.some((point) => point.x > box.left && point.x < box.right && point.y > box.top && point.y < box.bottom);
}

/** Whether a line goes through a box. @param {Box} box @param {Point} from @param {Point} to */
export function isCrossed(box, from, to) {
  let [enters, leaves] = [0, 1];
  for (const [start, delta, low, high] of [[from.x, to.x - from.x, box.left, box.right], [from.y, to.y - from.y, box.top, box.bottom]]) {
    if (delta === 0) {
      if (start < low || start > high) return false;
      continue;
    }
    const [a, b] = [(low - start) / delta, (high - start) / delta];
    enters = Math.max(enters, Math.min(a, b));
    leaves = Math.min(leaves, Math.max(a, b));
  }
  return leaves > enters;
}
