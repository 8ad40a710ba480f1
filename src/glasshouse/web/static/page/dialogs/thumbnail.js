// @ts-check
/** The lineage of a run as a small picture: sessions as lines that part and join. */
import { html } from "page/html";

const width = 112;
const height = 30;
const edge = 4;
const bend = 6;
const rowsMax = 5;

/** @typedef {{first: number, last: number, origin: string, parents: number[]}} Lane */

/** @param {{lanes: Lane[]}} props */
export function Thumbnail({ lanes }) {
  const rows = rowsOf(lanes);
  const gap = Math.min(7, (height - 2 * edge) / Math.max(1, ...rows));
  const middle = (height - gap * Math.max(0, ...rows)) / 2;
  const y = (/** @type {number} */ lane) => middle + rows[lane] * gap;
  const x = (/** @type {number} */ share) => edge + share * (width - 2 * edge);
  const words = lanes.length === 1 ? "One session" : `${lanes.length} sessions`;
  return html`<svg class="thumbnail" width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${words}>
    ${lanes.map(({ first, last, origin, parents }, at) => html`<g class=${`of-${rows[at] % 8}${origin === "branch" ? " is-fork" : ""}`}>
      ${parents.map((parent) => html`<path d=${`M${x(first) - bend} ${y(parent)}C${x(first) - bend / 3} ${y(parent)} ${x(first) - (2 * bend) / 3} ${y(at)} ${x(first)} ${y(at)}`} />`)}
      <path d=${`M${x(first)} ${y(at)}H${Math.max(x(last), x(first) + 1)}`} /></g>`)}
  </svg>`;
}

/** A row for each lane: that of its first parent if nobody else went on there, else the next free one. @param {Lane[]} lanes */
function rowsOf(lanes) {
  /** @type {number[]} */
  const rows = [];
  /** @type {number[]} */
  const busyUntil = [];
  for (const { first, last, parents } of lanes) {
    const isFree = (/** @type {number} */ row) => row !== undefined && busyUntil[row] < first;
    const row = parents.map((parent) => rows[parent]).find(isFree) ?? [...busyUntil.keys()].find(isFree) ?? Math.min(busyUntil.length, rowsMax - 1);
    rows.push(row);
    busyUntil[row] = Math.max(busyUntil[row] ?? 0, last);
  }
  return rows;
}
