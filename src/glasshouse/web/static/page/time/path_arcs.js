// @ts-check
/** The path of "why" on the lanes: its numbers where its events are, and arcs from each to what it led to. */
import { html } from "page/html";
import { sessionOf } from "page/apply";
import { yOf } from "page/time/lineage";
import { path } from "page/why/path";

const arcPixels = 22;
const wordsPixels = 250;

/** @param {{lineage: import("page/time/lanes").Lineage, axis: import("page/time/axis").Axis}} props */
export function WhyPath({ lineage, axis }) {
  if (!path.value) return null;
  const links = [...path.value.links]
    .sort((a, b) => a.k - b.k)
    .map((link) => ({ ...link, x: axis.x(link.k), y: yOf(lineage.lineOf.get(sessionOf(link.id))?.row ?? 0) }));
  const [first, last] = [links[0], links[links.length - 1]];
  if (!first || first === last) return null;
  const arcs = links.flatMap((from) => links.filter(({ n }) => n === from.to).map((to) => ({ from, to })));
  const words = `${last.k - first.k} events from the ${first.isDisturbance ? "disturbance" : "beginning"} to the line`;
  const isLeft = first.x > wordsPixels;
  return html`<svg class="why-path" width=${axis.width} height="90" aria-hidden="true" focusable="false">
    ${arcs.map(({ from, to }) => html`<path class=${from.isDisturbance ? "is-disturbance" : ""} d=${`M${from.x} ${from.y + 8}C${from.x} ${from.y + arcPixels + 8} ${to.x} ${to.y + arcPixels + 8} ${to.x} ${to.y + 8}`} />`)}
    <text x=${isLeft ? first.x - 18 : last.x + 18} y=${first.y + arcPixels + 7} text-anchor=${isLeft ? "end" : "start"}>${words}</text>
    ${links.map((link) => html`<g key=${link.id} class=${`link${link.isDisturbance ? " is-disturbance" : ""}${link.n === path.value?.selected ? " is-selected" : ""}`} transform=${`translate(${link.x} ${link.y})`}>
      <circle r="8" /><text y="3.5" text-anchor="middle">${link.n}</text></g>`)}
  </svg>`;
}
