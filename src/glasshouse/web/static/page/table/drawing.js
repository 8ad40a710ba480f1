// @ts-check
/** The table itself: the oval, a plate with a number in front of everybody who spoke, and arrows to what each answers. */
import { html } from "page/html";

/**
 * @typedef {import("page/table/seats").Layout} Layout
 * @typedef {import("page/table/seats").Point} Point
 * @typedef {{id: string, n: number, answers: number, isNewest: boolean}} Plate answers: the number of the line that it answers; 0 if there is none
 */

/** How far an arrow bends to the middle of the table. */
const bend = 0.28;
const arrowPixels = 4;
const platesOfMany = 4;
/** A flatter table has no room for plates. */
const plateOvalMin = 22;

/** @param {{layout: Layout, size: {width: number, height: number}, plates: Plate[], colour: number}} props */
export function Drawing({ layout, size, plates: all, colour }) {
  const { oval, plateSize } = layout;
  const at = new Map(layout.seats.map(({ id, plate }) => [id, plate]));
  // Plates that would lie on each other are those of the last lines alone.
  const plates = oval.ry < plateOvalMin ? [] : areApart([...at.values()], plateSize) ? all : [...all].sort((a, b) => b.n - a.n).slice(0, platesOfMany);
  const byNumber = new Map(plates.map(({ id, n }) => [n, id]));
  const arrows = plates.flatMap(({ id, answers, isNewest }) => {
    const [from, to] = [at.get(id), at.get(byNumber.get(answers) ?? "")];
    return from && to && from !== to ? [{ d: arrowPath(from, to, oval, plateSize), isNewest }] : [];
  });
  return html`<svg class=${`table-drawing of-${colour % 8}`} width=${size.width} height=${size.height} aria-hidden="true" focusable="false">
    <defs><marker id="table-arrow" viewBox="0 0 8 8" refX="6.5" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0.5 0.5L7.5 4L0.5 7.5z" class="table-arrow-head" /></marker></defs>
    <ellipse class="table-shade" cx=${oval.x} cy=${oval.y + 8} rx=${oval.rx} ry=${oval.ry} />
    <ellipse class="table-top" cx=${oval.x} cy=${oval.y} rx=${oval.rx} ry=${oval.ry} />
    <ellipse class="table-rim" cx=${oval.x} cy=${oval.y} rx=${Math.max(4, oval.rx - 8)} ry=${Math.max(4, oval.ry - 8)} />
    ${arrows.map(({ d, isNewest }) => html`<path class=${`table-arrow${isNewest ? " is-newest" : ""}`} d=${d} marker-end="url(#table-arrow)" />`)}
    ${plates.map(({ id, n, isNewest }) => Plate(at.get(id), n, isNewest, plateSize))}
  </svg>`;
}

/** Whether no plate covers another. @param {Point[]} points @param {{rx: number, ry: number}} size */
const areApart = (points, size) => points.every((one, at) => points.slice(at + 1).every((other) => Math.abs(one.x - other.x) > size.rx * 2 || Math.abs(one.y - other.y) > size.ry * 2));

/** @param {Point|undefined} point @param {number} n @param {boolean} isNewest @param {{rx: number, ry: number}} size */
function Plate(point, n, isNewest, size) {
  if (!point) return null;
  const rx = size.rx + Math.max(0, String(n).length - 3) * 3;
  return html`<g class=${`table-plate${isNewest ? " is-newest" : ""}`}><ellipse cx=${point.x} cy=${point.y} rx=${rx} ry=${size.ry} /><text x=${point.x} y=${point.y + 4}>${n}</text></g>`;
}

/** From the edge of one plate to that of another, bent to the middle of the table. @param {Point} from @param {Point} to @param {Point} middle @param {{rx: number, ry: number}} plate */
export function arrowPath(from, to, middle, plate) {
  const half = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  const over = { x: half.x + (middle.x - half.x) * bend, y: half.y + (middle.y - half.y) * bend };
  const start = edgeOf(from, over, plate, 1);
  const end = edgeOf(to, over, plate, arrowPixels);
  return `M${round(start.x)} ${round(start.y)}Q${round(over.x)} ${round(over.y)} ${round(end.x)} ${round(end.y)}`;
}

/** The point of a plate's edge that looks at another point. @param {Point} plate @param {Point} at @param {{rx: number, ry: number}} size @param {number} space */
function edgeOf(plate, at, size, space) {
  const angle = Math.atan2(at.y - plate.y, at.x - plate.x);
  return { x: plate.x + Math.cos(angle) * (size.rx + space), y: plate.y + Math.sin(angle) * (size.ry + space) };
}

/** @param {number} value */
const round = (value) => Math.round(value * 10) / 10;
