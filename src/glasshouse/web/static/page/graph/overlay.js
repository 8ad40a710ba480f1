// @ts-check
/** What lies over the graph: a tip beside the pointer, and menus. */
import { html } from "page/html";
import { graphInk } from "page/colours";
import { channelItems, creatureItems, graphItems } from "page/graph/changes";
import { menu, tip } from "page/graph/pointer";
import { graphName, titleOf } from "page/graph/summary";
import { firstChars, harmless } from "page/plain";
import { thinking, view } from "page/store";
import { Menu } from "page/ui";

const lineChars = 180;

export function Tip() {
  const shown = tip.value;
  if (!shown) return null;
  // Beside what it tells about; where there is no room to the right, to the left.
  const isLeft = shown.x > (document.querySelector(".graph")?.clientWidth ?? Infinity) - 320;
  const style = { ...(isLeft ? { right: `calc(100% - ${shown.x}px)` } : { left: `${shown.x}px` }), top: `min(${shown.y}px, 100% - 150px)` };
  if (!shown.node) return html`<div class=${`graph-tip is-forecast${shown.isRefused ? " is-refused" : ""}${isLeft ? " is-left" : ""}`} style=${style} role="status">${shown.text}</div>`;
  const now = view();
  if (shown.node.kind === "channel") {
    const channel = now?.channels[shown.node.id];
    if (!channel) return null;
    return html`<div class=${isLeft ? "graph-tip is-left" : "graph-tip"} style=${style}><b class="mono">#${harmless(channel.name)}</b>${channel.description ? html`<p>${harmless(channel.description)}</p>` : null}<small>${Object.keys(channel.edges).length} on it</small></div>`;
  }
  const creature = now?.creatures[shown.node.id];
  if (!now || !creature) return null;
  const graph = now.graphs[creature.graph];
  const states = [creature.role === "judge" ? "judge" : "", creature.is_privileged ? "privileged" : "", creature.is_running ? "" : "stopped", thinking.value[shown.node.id] ? "thinking" : ""].filter(Boolean).join(", ");
  return html`<div class=${isLeft ? "graph-tip is-left" : "graph-tip"} style=${style}>
    <b>${titleOf(creature)}</b>${states ? html` <small>${states}</small>` : null}
    ${creature.bio ? html`<p>${harmless(creature.bio)}</p>` : null}
    ${creature.line?.text ? html`<q dir="auto">${firstChars(harmless(creature.line.text), lineChars)}</q>` : null}
    <small style=${{ color: graphInk(graph?.colour ?? 0) }}>${graph ? graphName(graph) : ""}${creature.model ? ` · ${creature.model}` : ""}</small>
  </div>`;
}

/** @param {{fit: () => void}} props */
export function Menus({ fit }) {
  const open = menu.value;
  if (!open) return null;
  const { node, graph } = open;
  const items = node ? (node.kind === "creature" ? creatureItems(node.id) : channelItems(node.id)) : graphItems(graph, fit);
  const label = node ? node.label : graph ? graphNamed(graph) : "Graph";
  return html`<${Menu} label=${label} x=${open.x} y=${open.y} items=${items} onClose=${closeMenu} />`;
}

/** @param {string} id */
function graphNamed(id) {
  const now = view();
  return now?.graphs[id] ? graphName(now.graphs[id]) : "Graph";
}

const closeMenu = () => {
  menu.value = null;
};
