// @ts-check
/**
 * Where creatures and channels stand. Two small simulations: graphs as circles that do not overlap, and nodes that are pulled to
 * the centre of their graph. A merge or a split needs nothing of its own: nodes flow when their graph is another one.
 *
 * Always holds: a first position comes from the name, which a branch shares with the run it grew from, and the last position of
 * every id is kept, so a look back and the way forward again show the same picture.
 */
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
import { hashOf } from "page/faces";
import { titleOf } from "page/graph/summary";
import { harmless } from "page/plain";

/**
 * @typedef {{id: string, kind: "creature"|"channel", graph: string, entry: any, label: string, x: number, y: number, vx: number,
 *   vy: number, space: number, pad: number, half: number, low: number, index?: number, fx?: number|null, fy?: number|null}} Node
 * @typedef {{id: string, x: number, y: number, vx: number, vy: number, r: number, nodes: Node[], links: Link[]}} Circle
 * @typedef {{source: Node, target: Node, key: string, direction: number, isWire: boolean, distance: number, strength: number}} Link
 */

/** Up to this many creatures have faces and names; more are dots. */
export const facesMax = 150;
const reachMax = 230;
const circleGap = 16;
const spotAngles = 24;
const spreadStrength = 0.85;
const spreadNodesMax = 90;
const placesKeptMax = 20_000;
const alphaMin = 0.004;
const alphaDecay = 0.03;
/** Dots begin near their places and have no names to make room for: they come to rest in half the steps. */
const alphaDecayOfDots = 0.06;
const sizes = {
  faces: { creature: 46, channel: 31, charge: -430, link: 92 },
  dots: { creature: 19, channel: 14, charge: -60, link: 60 },
};

/** An angle from a name. @param {string} name */
const turnOf = (name) => (hashOf(name) / 2 ** 32) * Math.PI * 2;

export function makeLayout() {
  /** @type {Map<string, Node>} */
  const nodes = new Map();
  /** @type {Map<string, Circle>} */
  const circles = new Map();
  /** @type {Map<string, {x: number, y: number}>} */
  const places = new Map();
  /** @type {Link[]} */
  let links = [];
  let areDots = false;
  let aspect = 1;

  const across = forceX(0);
  const down = forceY(0);
  const circleForces = forceSimulation(/** @type {Circle[]} */ ([]))
    .force("x", across)
    .force("y", down)
    .force("collide", forceCollide((/** @type {Circle} */ circle) => circle.r + circleGap).strength(1).iterations(4))
    .velocityDecay(0.35)
    .stop();
  const linkForce = forceLink(/** @type {Link[]} */ ([]))
    .distance((/** @type {Link} */ link) => link.distance)
    .strength((/** @type {Link} */ link) => link.strength);
  const charge = forceManyBody().distanceMax(reachMax).theta(1);
  const collide = forceCollide((/** @type {Node} */ node) => node.space).strength(0.85);
  const nodeForces = forceSimulation(/** @type {Node[]} */ ([]))
    .force("link", linkForce)
    .force("charge", charge)
    .force("collide", collide)
    .force("home", home)
    .velocityDecay(0.42)
    .stop();
  nodeForces.alpha(0);

  /** Keep dots apart within each graph. Graphs do not overlap, so nobody else is near: much cheaper than to look for neighbours. */
  function spread() {
    for (const { nodes: members } of circles.values()) {
      for (let at = 0; at < members.length; at += 1) {
        const node = members[at];
        for (let next = at + 1; next < members.length; next += 1) {
          const other = members[next];
          const wanted = node.space + other.space;
          const [dx, dy] = [node.x + node.vx - other.x - other.vx, node.y + node.vy - other.y - other.vy];
          const square = dx * dx + dy * dy;
          if (square >= wanted * wanted || square === 0) continue;
          const far = Math.sqrt(square);
          const push = ((wanted - far) / far) * spreadStrength;
          const share = (other.space * other.space) / (node.space * node.space + other.space * other.space);
          node.vx += dx * push * share;
          node.vy += dy * push * share;
          other.vx -= dx * push * (1 - share);
          other.vy -= dy * push * (1 - share);
        }
      }
    }
  }

  /** Pull every node to the centre of its graph, and back into its circle if it is outside. @param {number} alpha */
  function home(alpha) {
    // One graph alone may be as wide as the picture; several need room round each.
    const stretch = circles.size === 1 ? aspect ** 1.5 : 1;
    for (const { x, y, r, nodes: members } of circles.values()) {
      for (const node of members) {
        const pull = alpha * (areDots ? 0.16 : node.kind === "channel" ? 0.16 : 0.08);
        const [dx, dy] = [x - node.x, y - node.y];
        node.vx += (dx * pull) / stretch;
        node.vy += dy * pull * stretch;
        const far = Math.sqrt(dx * dx + dy * dy); // Math.hypot takes several times as long.
        const outside = far - (r - node.pad);
        if (outside > 0 && circles.size > 1) {
          const back = Math.min(0.12, alpha) * (outside / far);
          node.vx += dx * back;
          node.vy += dy * back;
        }
      }
    }
  }

  /**
   * Take in a view. Returns what came, went, or changed its graph.
   * @param {import("page/apply").View} view
   */
  function update(view) {
    const creatures = Object.entries(view.creatures).filter(([, { graph }]) => view.graphs[graph]);
    const channels = Object.entries(view.channels).filter(([, { graph }]) => view.graphs[graph]);
    const size = sizes[creatures.length > facesMax ? "dots" : "faces"];
    const wereDots = areDots;
    areDots = size === sizes.dots;
    /** @type {{came: Node[], went: Node[], moved: {node: Node, from: string}[]}} */
    const change = { came: [], went: [], moved: [] };
    const there = new Set([...creatures, ...channels].map(([id]) => id));
    for (const [id, node] of nodes) {
      if (there.has(id)) continue;
      places.set(id, { x: node.x, y: node.y });
      nodes.delete(id);
      change.went.push(node);
    }
    while (places.size > placesKeptMax) places.delete(/** @type {string} */ (places.keys().next().value));
    /** @type {Map<string, Node[]>} */
    const members = new Map(Object.keys(view.graphs).map((id) => [id, []]));
    /** @type {(id: string, kind: "creature"|"channel", entry: any) => void} */
    const put = (id, kind, entry) => {
      let node = nodes.get(id);
      const label = kind === "creature" ? titleOf(entry) : `#${harmless(entry.name)}`;
      const room = areDots ? size[kind] : Math.max(size[kind], Math.min(64, label.length * 3.7 + 6));
      const pad = areDots ? size[kind] + 12 : kind === "channel" ? 42 : entry.is_privileged ? 60 : 56;
      if (!node) {
        node = { id, kind, graph: entry.graph, entry, label, x: NaN, y: NaN, vx: 0, vy: 0, space: room, pad, half: 0, low: 0 };
        nodes.set(id, node);
        change.came.push(node);
      } else if (node.graph !== entry.graph) {
        change.moved.push({ node, from: node.graph });
      }
      const half = areDots || kind === "channel" ? 0 : Math.min(92, label.length * 3.7 + (entry.role === "judge" ? 24 : 14));
      Object.assign(node, { graph: entry.graph, entry, label, space: room, pad, half, low: entry.is_privileged ? 70 : 60 });
      members.get(entry.graph)?.push(node);
    };
    for (const [id, entry] of creatures) put(id, "creature", entry);
    for (const [id, entry] of channels) put(id, "channel", entry);
    const isNew = arrange(members, view);
    const before = links.map(({ key }) => key).join();
    links = linksOf(view, nodes, size);
    for (const circle of circles.values()) circle.links = [];
    for (const link of links) circles.get(link.target.graph)?.links.push(link);
    const hasChanged = isNew || change.came.length + change.went.length + change.moved.length > 0 || before !== links.map(({ key }) => key).join();
    if (hasChanged || wereDots !== areDots) {
      charge.strength((node) => size.charge * (/** @type {Node} */ (node).kind === "channel" ? 0.7 : 1));
      // Dots keep apart by their size alone: it looks the same, and a thousand of them move at the pace of the screen.
      nodeForces.force("charge", areDots ? null : charge);
      const isSpread = areDots && [...circles.values()].every(({ nodes: some }) => some.length <= spreadNodesMax);
      nodeForces.force("collide", isSpread ? spread : collide.iterations(areDots ? 1 : 3));
      nodeForces.nodes([...nodes.values()]);
      linkForce.links(links);
      circleForces.nodes([...circles.values()]);
      const isLarge = isNew || change.moved.length > 0 || change.came.length > 2;
      nodeForces.alpha(Math.max(nodeForces.alpha(), isLarge ? 0.9 : 0.45));
    }
    return { ...change, hasChanged };
  }

  /** Give every graph its circle, and every new node a place. Returns whether graphs came or went.
   * @param {Map<string, Node[]>} members @param {import("page/apply").View} view */
  function arrange(members, view) {
    let isNew = false;
    for (const id of circles.keys()) {
      if (members.has(id)) continue;
      circles.delete(id);
      isNew = true;
    }
    const bySize = [...members].map(([id, some]) => ({ id, some, room: roomOf(some) })).sort((a, b) => b.room - a.room || (view.graphs[a.id].name < view.graphs[b.id].name ? -1 : 1));
    for (const { id, some, room } of bySize) {
      let circle = circles.get(id);
      if (!circle) {
        isNew = true;
        const known = some.map((node) => (Number.isNaN(node.x) ? places.get(node.id) : node)).filter((point) => point !== undefined);
        const mean = { x: known.reduce((sum, { x }) => sum + x, 0) / known.length, y: known.reduce((sum, { y }) => sum + y, 0) / known.length };
        circle = { id, r: room, vx: 0, vy: 0, nodes: some, links: [], ...(known.length ? mean : freeSpot(room)) };
        circles.set(id, circle);
      }
      circle.nodes = some;
      placeNew(circle, room, view);
    }
    return isNew;
  }

  /**
   * Give new nodes a place: channels on a ring, and creatures near the channels that they are on, so that few edges cross.
   * @param {Circle} circle @param {number} room @param {import("page/apply").View} view
   */
  function placeNew(circle, room, view) {
    const rings = circle.nodes.filter(({ kind }) => kind === "channel").sort((a, b) => (a.label < b.label ? -1 : 1));
    const turned = turnOf(view.graphs[circle.id].name);
    for (const [at, node] of rings.entries()) {
      if (!Number.isNaN(node.x)) continue;
      const angle = turned + (at / rings.length) * Math.PI * 2;
      const far = rings.length > 1 ? room * 0.4 : 0;
      Object.assign(node, places.get(node.id) ?? { x: circle.x + Math.cos(angle) * far, y: circle.y + Math.sin(angle) * far });
    }
    for (const node of circle.nodes) {
      if (!Number.isNaN(node.x)) continue;
      const own = rings.filter(({ id }) => view.channels[id]?.edges[node.id]);
      const mean = { x: circle.x, y: circle.y };
      for (const { x, y } of own) Object.assign(mean, { x: mean.x + (x - circle.x) / own.length, y: mean.y + (y - circle.y) / own.length });
      const angle = turnOf(node.label);
      const far = own.length > 1 ? room * 0.08 : room * 0.4;
      Object.assign(node, places.get(node.id) ?? { x: mean.x + Math.cos(angle) * far, y: mean.y + Math.sin(angle) * far });
    }
  }

  /** Where a new circle touches another one and all stay close together. @param {number} room */
  function freeSpot(room) {
    const others = [...circles.values()];
    if (!others.length) return { x: 0, y: 0 };
    const box = { left: Math.min(...others.map(({ x, r }) => x - r)), right: Math.max(...others.map(({ x, r }) => x + r)), top: Math.min(...others.map(({ y, r }) => y - r)), bottom: Math.max(...others.map(({ y, r }) => y + r)) };
    let [best, least] = [{ x: 0, y: 0 }, Infinity];
    for (const other of others) {
      for (let at = 0; at < spotAngles; at += 1) {
        const angle = (at / spotAngles) * Math.PI * 2;
        const far = other.r + room + 2 * circleGap;
        const [x, y] = [other.x + Math.cos(angle) * far, other.y + Math.sin(angle) * far];
        const width = Math.max(box.right, x + room) - Math.min(box.left, x - room);
        const height = Math.max(box.bottom, y + room) - Math.min(box.top, y - room);
        const cost = Math.max(width / aspect, height) + Math.hypot(x, y) * 0.1;
        if (cost < least && isFree(others, x, y, room + 1.9 * circleGap)) [best, least] = [{ x, y }, cost];
      }
    }
    return best;
  }

  /** Whether all circles are so far from a place. @param {Circle[]} others @param {number} x @param {number} y @param {number} gap */
  function isFree(others, x, y, gap) {
    for (const circle of others) {
      const [dx, dy, wanted] = [circle.x - x, circle.y - y, circle.r + gap];
      if (dx * dx + dy * dy < wanted * wanted) return false;
    }
    return true;
  }

  /** The radius that some nodes need. @param {Node[]} some */
  function roomOf(some) {
    const area = some.reduce((sum, { space }) => sum + space * space, 0);
    return Math.sqrt(area) * 1.12 + (areDots ? 22 : 44);
  }

  /** Let circles be as large as what they hold, so that hulls have room and no more. */
  function resize() {
    for (const circle of circles.values()) {
      if (!circle.nodes.length) continue;
      let far = 0;
      for (const node of circle.nodes) {
        const [dx, dy] = [node.x - circle.x, node.y - circle.y];
        far = Math.max(far, Math.sqrt(dx * dx + dy * dy) + node.pad);
      }
      circle.r += (Math.min(far, roomOf(circle.nodes) * 1.35) - circle.r) * 0.2;
    }
  }

  function tick() {
    const alpha = nodeForces.alpha() * (1 - (areDots ? alphaDecayOfDots : alphaDecay));
    across.strength(0.09 / aspect);
    down.strength(0.09 * aspect);
    circleForces.alpha(Math.max(0.4, alpha)).tick();
    nodeForces.alpha(alpha).tick();
    resize();
  }

  return {
    nodes,
    circles,
    links: () => links,
    areDots: () => areDots,
    update,
    /** Move by one step. Returns whether anything still moves. */
    step() {
      if (nodeForces.alpha() < alphaMin) return false;
      tick();
      return true;
    },
    isMoving: () => nodeForces.alpha() >= alphaMin,
    /** Come to rest, or as far as the time allows. @param {number} [milliseconds] */
    settle(milliseconds = Infinity) {
      const end = performance.now() + milliseconds;
      while (nodeForces.alpha() >= alphaMin && performance.now() < end) tick();
    },
    /** Start to move again, a little or a lot. @param {number} alpha */
    warm(alpha) {
      nodeForces.alpha(Math.max(nodeForces.alpha(), alpha));
    },
    /** Tell how wide the picture is for its height. @param {number} ratio */
    setAspect(ratio) {
      aspect = Math.max(0.6, Math.min(2.4, ratio));
    },
  };
}

/**
 * The edges between creatures and channels, and the wires between creatures.
 * @param {import("page/apply").View} view
 * @param {Map<string, Node>} nodes
 * @param {{link: number, creature: number}} size
 */
function linksOf(view, nodes, size) {
  /** @type {Link[]} */
  const links = [];
  for (const [id, channel] of Object.entries(view.channels)) {
    const target = nodes.get(id);
    const edges = Object.entries(channel.edges);
    const distance = Math.max(size.link, size.creature * Math.sqrt(edges.length) * 1.05);
    for (const [creature, direction] of edges) {
      const source = nodes.get(creature);
      if (source && target) links.push({ source, target, key: `${creature}>${id}:${direction}`, direction, isWire: false, distance, strength: 0.7 / Math.sqrt(edges.length) });
    }
  }
  for (const [id, wire] of Object.entries(view.wires)) {
    const [source, target] = [nodes.get(wire.from), nodes.get(wire.to)];
    if (source && target) links.push({ source, target, key: id, direction: 2, isWire: true, distance: size.link * 1.6, strength: 0.03 });
  }
  return links;
}
