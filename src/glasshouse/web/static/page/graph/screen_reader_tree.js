// @ts-check
/**
 * The graph as a tree, for screen readers and the keyboard: graphs, and in each its creatures and channels. It cannot be seen; the
 * canvas draws the ring round what has the focus. Arrows move to the nearest node in their direction, Tab to the next graph.
 */
import { signal } from "@preact/signals";
import { html, useEffect, useLayoutEffect, useRef } from "page/html";
import { chooseFace } from "page/centre/faces";
import { facesMax } from "page/graph/layout";
import { menu } from "page/graph/pointer";
import { counted, graphName, titleOf } from "page/graph/summary";
import { register } from "page/keys";
import { firstChars, harmless } from "page/plain";
import { isRewound, moment, selection, thinking, view } from "page/store";

/** @typedef {import("page/graph/layout").Node} Node */

const lineChars = 120;

/** What has the keyboard's focus in the tree: a graph's, a creature's or a channel's id. */
const focused = signal("");

/** @param {import("page/apply").View} now @param {string} id @param {import("page/apply").Creature} creature */
function creatureWords(now, id, creature) {
  const channels = Object.values(now.channels).filter(({ edges }) => edges[id]).map(({ name, edges }) => `${{ 1: "listens on", 2: "sends on", 3: "is on" }[edges[id]]} #${harmless(name)}`);
  const parts = [titleOf(creature), creature.role === "judge" ? "judge" : "", creature.is_privileged ? "privileged" : "", creature.is_running ? "" : "stopped", !isRewound.value && thinking.value[id] ? "is thinking" : "", creature.error ? "its model did not answer" : "", ...channels];
  const wires = Object.values(now.wires).filter(({ from }) => from === id).map(({ to }) => `hands its lines to ${now.creatures[to] ? titleOf(now.creatures[to]) : to}`);
  const line = creature.line?.text ? `. Last line: ${firstChars(harmless(creature.line.text), lineChars)}` : "";
  return `${[...parts, ...wires].filter(Boolean).join(", ")}${line}`;
}

/**
 * The entries of a table, by their graph.
 * @template {{graph: string}} T
 * @param {{[id: string]: T}} table
 */
function byGraph(table) {
  /** @type {Map<string, [string, T][]>} */
  const groups = new Map();
  for (const [id, entry] of Object.entries(table)) {
    const group = groups.get(entry.graph);
    if (group) group.push([id, entry]);
    else groups.set(entry.graph, [[id, entry]]);
  }
  return groups;
}

/** Move the focus into the tree; where the graph is out of sight, it is shown first. @param {HTMLElement|null} tree */
function focusIn(tree) {
  const focus = () => /** @type {HTMLElement|null} */ (tree?.querySelector("[tabindex='0']"))?.focus();
  if (tree?.offsetParent) return focus();
  chooseFace("graph");
  requestAnimationFrame(focus);
}

/** @param {{picture: ReturnType<typeof import("page/graph/picture").makePicture>|null}} props */
export function ScreenReaderTree({ picture }) {
  const tree = useRef(/** @type {HTMLElement|null} */ (null));
  moment.value;
  const now = view();
  const at = focused.value;
  const isThere = now && (now.graphs[at] || now.creatures[at] || now.channels[at]);
  const here = isThere ? at : (Object.keys(now?.graphs ?? {})[0] ?? "");
  useEffect(
    () => register({ id: "focus-graph", key: "G", label: "Focus the graph", group: "Graph", run: () => focusIn(tree.current) }),
    [],
  );
  useLayoutEffect(() => {
    // Another item has the focus: the tree follows, but never takes it from elsewhere.
    if (tree.current?.contains(document.activeElement)) /** @type {HTMLElement|null} */ (tree.current.querySelector(`[data-id="${CSS.escape(here)}"]`))?.focus();
  }, [here]);
  if (!now) return null;
  const isSmall = Object.keys(now.creatures).length <= facesMax;
  const graphHere = now.graphs[here] ? here : (now.creatures[here] ?? now.channels[here])?.graph;

  const creaturesOf = byGraph(now.creatures);
  const channelsOf = byGraph(now.channels);

  /** @param {string} id */
  const show = (id) => {
    if (!picture) return;
    picture.shown.focused = now.graphs[id] ? "" : id;
    picture.shown.litGraphs = now.graphs[id] ? [id] : [];
    picture.reveal(id);
  };
  /** @param {FocusEvent} event */
  const onFocus = (event) => {
    const id = event.target instanceof HTMLElement ? (event.target.dataset.id ?? "") : "";
    if (!id) return;
    focused.value = id;
    show(id);
  };
  const onBlur = () => {
    if (!picture) return;
    Object.assign(picture.shown, { focused: "", litGraphs: [] });
    picture.wake();
  };
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    if (!picture || event.ctrlKey || event.metaKey || event.altKey) return;
    const graphs = Object.keys(now.graphs);
    const key = event.key === "Tab" ? (event.shiftKey ? "previous" : "next") : event.key === "F10" && event.shiftKey ? "Enter" : event.key;
    const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    if (direction) {
      const next = nearest(picture, here, direction[0], direction[1]);
      if (next) focused.value = next;
    } else if (key === "next" || key === "previous") {
      const next = graphs[graphs.indexOf(graphHere ?? "") + (key === "next" ? 1 : -1)];
      if (!next) return; // Behind the last graph the focus leaves the tree.
      focused.value = next;
    } else if (key === "Enter" || key === "ContextMenu") openMenu(picture, here);
    else if (key === " ") selection.value = now.graphs[here] ? { kind: "graph", id: here } : { kind: now.creatures[here] ? "creature" : "channel", id: here };
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<div class="hidden graph-tree" role="tree" aria-label="Graphs, creatures and channels" ref=${tree} onFocusIn=${onFocus} onFocusOut=${onBlur} onKeyDown=${onKeyDown}>
    ${Object.entries(now.graphs).map(([id, graph]) => {
      const isOpen = isSmall || id === graphHere;
      const [creatures, channels] = [creaturesOf.get(id) ?? [], channelsOf.get(id) ?? []];
      return html`<div key=${id} role="treeitem" data-id=${id} tabindex=${id === here ? 0 : -1} aria-expanded=${isOpen} aria-selected=${selection.value?.id === id} aria-label=${`Graph ${graphName(graph)}, ${counted(creatures.length, "creature")}, ${counted(channels.length, "channel")}`}>
        ${isOpen ? html`<div role="group">
          ${creatures.map(([one, creature]) => html`<div key=${one} role="treeitem" data-id=${one} tabindex=${one === here ? 0 : -1} aria-selected=${selection.value?.id === one} aria-label=${creatureWords(now, one, creature)}></div>`)}
          ${channels.map(([one, channel]) => html`<div key=${one} role="treeitem" data-id=${one} tabindex=${one === here ? 0 : -1} aria-selected=${selection.value?.id === one} aria-label=${`Channel #${harmless(channel.name)}, ${counted(Object.keys(channel.edges).length, "creature")}`}></div>`)}
        </div>` : null}
      </div>`;
    })}
  </div>`;
}

/** @param {ReturnType<typeof import("page/graph/picture").makePicture>} picture @param {string} id */
function openMenu(picture, id) {
  const box = document.querySelector(".graph-canvas")?.getBoundingClientRect();
  const node = picture.layout.nodes.get(id);
  const target = node ?? picture.layout.circles.get(id);
  if (!box || !target) return;
  const { x, y } = picture.lens.toCanvas(target);
  menu.value = { x: box.left + x + 18, y: box.top + y + 18, node, graph: node ? undefined : id };
}

/**
 * The nearest node in a direction: far sideways counts double.
 * @param {ReturnType<typeof import("page/graph/picture").makePicture>} picture
 * @param {string} id
 * @param {number} dx
 * @param {number} dy
 */
function nearest(picture, id, dx, dy) {
  const from = picture.layout.nodes.get(id);
  const circle = picture.layout.circles.get(id);
  if (circle) return circle.nodes[0]?.id; // From a graph into it.
  if (!from) return undefined;
  let [best, least] = [/** @type {string|undefined} */ (undefined), Infinity];
  for (const node of picture.layout.nodes.values()) {
    const [x, y] = [node.x - from.x, node.y - from.y];
    const along = x * dx + y * dy;
    if (along <= 1) continue;
    const cost = along + 2 * Math.abs(x * dy - y * dx);
    if (cost < least) [best, least] = [node.id, cost];
  }
  return best;
}
