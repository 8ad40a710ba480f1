// @ts-check
/**
 * The picture of a graph on one canvas: what stands where, what moves, and when it is drawn.
 *
 * Always holds: a frame is drawn only while something moves or after something changed; a frame that fails does not stop
 * those that follow.
 */
import { canvasGraphColour } from "page/colours";
import { mixed } from "page/faces";
import { makeCamera } from "page/graph/camera";
import { drawPicture, pillBox } from "page/graph/draw";
import { areaOf, hullOf, isInside } from "page/graph/geometry";
import { placeLabels } from "page/graph/labels";
import { makeLayout } from "page/graph/layout";
import { endsOf } from "page/graph/edges";
import { easeOut, makeMotion, progress } from "page/graph/motion";
import { forgetFaces, hasName, namedNode } from "page/graph/nodes";
import { creatureRadius, radiusOf } from "page/graph/scene";
import { graphName } from "page/graph/summary";

/**
 * @typedef {import("page/apply").View} View
 * @typedef {import("page/graph/layout").Node} Node
 * @typedef {import("page/graph/scene").Scene} Scene
 * @typedef {{x: number, y: number}} Point
 */

const frameMilliseconds = 1000 / 60;
const colourPerFrame = 0.09;
const namesFromScale = 0.42;
const nameChars = { width: 6.6, height: 17 };
const namesShareMax = 0.34;
const hitPixelsMin = 12;
const slowMilliseconds = 50;
const settleMilliseconds = 160;
/** Of a crowd, a frame takes less: it comes to rest over a few frames, and the page is ready meanwhile. */
const settleMillisecondsOfDots = 60;
const labelFrames = 12;
const blinkMilliseconds = 130;

/** @param {HTMLCanvasElement} canvas @param {{isStill?: boolean}} [how] still: everything comes to rest at once */
export function makePicture(canvas, how = {}) {
  const isStill = how.isStill ?? false;
  const wish = matchMedia("(prefers-reduced-motion: reduce)");
  const isReduced = () => isStill || wish.matches;
  const layout = makeLayout();
  const lens = makeCamera();
  const motion = makeMotion(isReduced);
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  /** @type {Map<string, {now: string, from: string, target: string, share: number}>} */
  const colours = new Map();
  /** @type {Map<string, string>} */
  let slots = new Map();
  let slotsAge = Infinity;
  /** @type {View|null} */
  let view = null;
  let size = { width: 0, height: 0, ratio: 1 };
  /** What only the caller knows. @type {{hovered: string, selected: string, focused: string, target: string, thinking: {[id: string]: any}, blinking: string, path: import("page/graph/scene").PathStep[], ghosts: import("page/graph/scene").Ghost[], litGraphs: string[], held: string, handle: {x: number, y: number}|null, isNameless: boolean}} */
  const shown = { hovered: "", selected: "", focused: "", target: "", thinking: {}, blinking: "", path: [], ghosts: [], litGraphs: [], held: "", handle: null, isNameless: false };
  let frames = 0;
  let handle = 0;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;
  let lastTime = 0;
  let isEnded = false;
  /** @type {import("page/graph/scene").Hull[]} */
  let hulls = [];
  /** @type {Map<string, {hull: import("page/graph/scene").Hull, start: number}>} */
  const gone = new Map();
  /** @type {Set<(scene: Scene, isShifting: boolean) => void>} */
  const frameListeners = new Set();

  /** The colour of something on its way to another one. @param {string} id @param {string} target */
  function eased(id, target) {
    let colour = colours.get(id);
    if (!colour) colours.set(id, (colour = { now: target, from: target, target, share: 1 }));
    if (colour.target !== target) Object.assign(colour, isReduced() ? { now: target, from: target, target, share: 1 } : { from: colour.now, target, share: 0 });
    return colour.now;
  }

  /** @param {number} passed frames */
  function easeColours(passed) {
    let isMoving = false;
    for (const colour of colours.values()) {
      if (colour.share >= 1) continue;
      colour.share += (1 - colour.share) * (1 - (1 - colourPerFrame) ** passed);
      if (colour.share > 0.985) colour.share = 1;
      // Few steps: every colour makes faces of its own.
      colour.now = colour.share === 1 ? colour.target : mixed(colour.from, colour.target, Math.round(colour.share * 16) / 16);
      isMoving = true;
    }
    return isMoving;
  }

  /** @param {string} graph */
  const graphHex = (graph) => canvasGraphColour(view?.graphs[graph]?.colour ?? 0);
  /** @param {Node} node */
  const colourOf = (node) => (layout.areDots() ? eased(`graph ${node.graph}`, graphHex(node.graph)) : eased(node.id, graphHex(node.graph)));

  /** @param {number} now */
  function findHulls(now) {
    const before = new Map(hulls.map((hull) => [hull.id, hull]));
    hulls = [];
    for (const circle of layout.circles.values()) {
      const graph = view?.graphs[circle.id];
      if (!graph || !circle.nodes.length) continue;
      // Who is dragged out is no part of the hull any more, unless nobody else is left in it.
      const members = circle.nodes.filter(({ id }) => id !== shown.held);
      const points = (members.length ? members : circle.nodes).map((node) => {
        const joined = motion.joins.get(node.id);
        if (joined === undefined) return node;
        // A hull grows towards who joins, so that it does not jump.
        const share = easeOut(progress(now, joined, motion.times.join));
        return { x: circle.x + (node.x - circle.x) * share, y: circle.y + (node.y - circle.y) * share, pad: node.pad, half: node.half * share, low: node.low };
      });
      const count = circle.nodes.reduce((sum, { kind }) => sum + Number(kind === "creature"), 0);
      hulls.push({ id: circle.id, name: graphName(graph), count, colour: eased(`graph ${circle.id}`, graphHex(circle.id)), points: hullOf(points), nodes: circle.nodes, alpha: 1, isLit: shown.selected === circle.id || shown.litGraphs.includes(circle.id) });
      before.delete(circle.id);
    }
    for (const [id, hull] of before) if (hull.alpha === 1 && !isReduced()) gone.set(id, { hull, start: now });
    for (const [id, { hull, start }] of gone) {
      const share = progress(now, start, motion.times.death);
      // It fades round those whom it held, wherever they flow to.
      if (share < 1 && !view?.graphs[id]) hulls.push({ ...hull, points: hullOf(hull.nodes), alpha: 0.999 * (1 - share) });
      else gone.delete(id);
    }
  }

  /** Who disturbed, if the path that is shown tells of it: below everything, near whom it reached. @returns {Node|null} */
  function visitorNode() {
    const step = shown.path.find(({ isDisturbance }) => isDisturbance);
    if (!step) return null;
    const reached = layout.nodes.get(shown.path.find(({ from }) => from === step.creature)?.creature ?? "");
    const bottom = Math.max(0, ...hulls.flatMap(({ points }) => points.map(({ y }) => y)));
    const node = { id: step.creature, kind: /** @type {const} */ ("creature"), graph: "", entry: { role: "visitor" }, label: "A visitor", vx: 0, vy: 0, space: 46, pad: 50, half: 0, low: 0 };
    return { ...node, x: (reached?.x ?? 0) + 70, y: bottom + 70 };
  }

  /** The part of the world that there is to see. */
  function bounds() {
    const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
    for (const { points, alpha } of hulls) {
      if (alpha < 1) continue;
      for (const { x, y } of points) {
        box.left = Math.min(box.left, x);
        box.right = Math.max(box.right, x);
        box.top = Math.min(box.top, y - 12);
        box.bottom = Math.max(box.bottom, y);
      }
    }
    const visitor = visitorNode();
    if (visitor) Object.assign(box, { bottom: visitor.y + 56, left: Math.min(box.left, visitor.x - 50), right: Math.max(box.right, visitor.x + 50) });
    return box.left === Infinity ? { left: -200, top: -200, right: 200, bottom: 200 } : box;
  }

  /** Whether names would leave enough of the picture to see. */
  function hasRoomForNames() {
    const { scale } = lens.camera;
    if (shown.isNameless || layout.areDots() || scale < namesFromScale) return false;
    let letters = 0;
    for (const { label } of layout.nodes.values()) letters += label.length;
    const area = hulls.reduce((sum, { points }) => sum + areaOf(points), 0) * scale * scale;
    return letters * nameChars.width * nameChars.height < area * namesShareMax;
  }

  /** @param {number} now @returns {Scene} */
  function sceneAt(now) {
    /** @type {Map<string, Point>} */
    const points = new Map();
    return {
      pen, ...size, now, layout, motion, hulls, slots, ...shown, stems: [], visitor: visitorNode(),
      scale: lens.camera.scale,
      toCanvas: lens.toCanvas,
      at(node) {
        let point = points.get(node.id);
        if (!point) points.set(node.id, (point = lens.toCanvas(node)));
        return point;
      },
      colourOf,
      isReduced: isReduced(),
      areNamesShown: hasRoomForNames(),
    }; // prettier-ignore
  }

  /** @param {Scene} scene @param {boolean} isMoving */
  function nameNodes(scene, isMoving) {
    // Dots have no names: they are never out of date.
    slotsAge = layout.areDots() ? 0 : slotsAge + 1;
    if (layout.areDots() || (isMoving && slotsAge < labelFrames)) return;
    slotsAge = 0;
    const named = [...layout.nodes.values()].filter((node) => hasName(scene, node)).map((node) => namedNode(scene, node));
    const lines = layout.links().map(({ source, target }) => endsOf(scene, source, target));
    const hullOfGraph = new Map(hulls.map(({ id, points }) => [id, points]));
    slots = placeLabels(named, lines, slots, ({ id }, { left, right, top, bottom }) => {
      const points = hullOfGraph.get(layout.nodes.get(id)?.graph ?? "") ?? [];
      return [left, right].every((x) => [top, bottom].every((y) => isInside(points, lens.toWorld({ x, y }))));
    }, hulls.filter(({ points }) => points.length).map((hull) => pillBox(scene, hull)));
    scene.slots = slots;
  }

  /** @param {number} time */
  function frame(time) {
    handle = 0;
    if (isEnded || !size.width) return;
    frames += 1;
    let [isMoving, isSlow] = [false, false];
    let wakeAt = Infinity;
    try {
      const now = performance.now();
      const passed = lastTime ? Math.min(6, Math.max(0.2, (time - lastTime) / frameMilliseconds)) : 1;
      lastTime = time;
      if (isReduced()) {
        layout.settle(isStill ? Infinity : layout.areDots() ? settleMillisecondsOfDots : settleMilliseconds);
        isMoving = layout.isMoving();
      }
      else for (let step = 0; step < (layout.areDots() || passed < 1.5 ? 1 : 2); step += 1) isMoving = layout.step() || isMoving;
      const settled = motion.settle(now);
      wakeAt = settled.wakeAt - now;
      // The hulls of a crowd follow every other frame: they are wide enough for that.
      if (!layout.areDots() || !isMoving || frames % 2 === 0) findHulls(now);
      isMoving = settled.isMoving || gone.size > 0 || isMoving;
      lens.aim(bounds());
      const isShifting = lens.ease(passed, isReduced()) || layout.isMoving();
      isMoving = isShifting || isMoving;
      isMoving = easeColours(passed) || isMoving;
      isSlow = !isReduced() && Object.keys(shown.thinking).length > 0;
      const scene = sceneAt(now);
      nameNodes(scene, isMoving);
      for (const listen of frameListeners) listen(scene, isShifting);
      drawPicture(scene);
      if (!isMoving && slotsAge > 0) wake(); // Once more at rest, with names where they belong.
    } finally {
      if (isMoving) wake();
      else {
        lastTime = 0;
        clearTimeout(timer);
        if (isSlow) timer = setTimeout(wake, slowMilliseconds);
        else if (wakeAt < Infinity) timer = setTimeout(wake, Math.max(0, wakeAt) + 5);
      }
    }
  }

  /** Whether anybody can see the picture. What nobody sees is not put into motion: it would wait for a frame and pile up. */
  const isSeen = () => size.width > 0 && !document.hidden;

  /** Have a frame drawn. */
  function wake() {
    if (!handle && !isEnded) handle = requestAnimationFrame(frame);
  }

  wish.addEventListener("change", wake);
  const drawWithFonts = () => ((slotsAge = Infinity), wake());
  void document.fonts?.ready.then(drawWithFonts);
  document.fonts?.addEventListener?.("loadingdone", drawWithFonts); // Some come after the first picture.

  return {
    shown,
    wake,
    lens,
    layout,
    motion,
    frames: () => frames,
    hulls: () => hulls,
    /** Be told of each frame before it is drawn, and whether nodes or the camera are on their way; returns what ends that. @param {(scene: Scene, isShifting: boolean) => void} listener */
    onFrame(listener) {
      frameListeners.add(listener);
      return () => void frameListeners.delete(listener);
    },
    /** @param {number} width @param {number} height @param {import("page/graph/camera").Box} room that nothing covers */
    resize(width, height, room) {
      const ratio = Math.min(3, globalThis.devicePixelRatio || 1);
      const isComing = size.width === 0 && width > 0;
      if (width !== size.width || height !== size.height || ratio !== size.ratio) {
        size = { width, height, ratio };
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
      }
      lens.setRoom(room);
      layout.setAspect((room.right - room.left) / Math.max(1, room.bottom - room.top));
      slotsAge = Infinity;
      if (isComing) {
        // What nobody has seen need not move to where it belongs.
        lens.aim(bounds());
        lens.ease(1, true);
      }
      wake();
    },
    /**
     * Show a view. What came or went is shown in motion only if the view is the next moment of the one before.
     * @param {View} next
     * @param {{isNext: boolean, isNew?: boolean}} how isNew: it is of another story
     */
    show(next, { isNext, isNew = false }) {
      const isFirst = view === null || isNew;
      const edgesBefore = new Set(layout.links().map(({ key }) => key.split(":")[0]));
      view = next;
      const change = layout.update(next);
      if (isFirst) {
        layout.settle(isStill ? Infinity : layout.areDots() ? settleMillisecondsOfDots : settleMilliseconds);
        findHulls(performance.now());
        lens.follow();
        lens.aim(bounds());
        lens.ease(1, true);
      }
      if (!isNext || isFirst) {
        motion.clear();
        gone.clear();
        hulls = hulls.filter(({ id }) => next.graphs[id]);
      } else if (change.hasChanged && isSeen()) {
        const edges = layout.links().map(({ key }) => key).filter((key) => !edgesBefore.has(key.split(":")[0]));
        motion.change(change, edges, performance.now());
      }
      if (change.hasChanged) slotsAge = Infinity;
      wake();
      return change;
    },
    /** Show what a record tells: who speaks, what merged. @param {import("page/apply").Record} record @param {View} view */
    tell(record, view) {
      if (!isSeen()) return;
      const now = performance.now();
      const { icon } = record.row;
      if (icon === "merge" || icon === "split") {
        const graph = record.row.graph ?? view.lanes[record.id.slice(0, record.id.lastIndexOf("."))]?.graph;
        if (graph) motion.changeGraph(graph, now);
      } else if (icon === "visitor") motion.disturb(now);
      const speaker = record.d.find(([what, path]) => what === "s" && path[0] === "creatures" && path[2] === "line")?.[1][1];
      if (speaker && view.creatures[speaker]) {
        const { graph } = view.creatures[speaker];
        const channel = Object.entries(view.channels).find(([, one]) => one.graph === graph && one.name === record.row.channel);
        const listeners = Object.entries(channel?.[1].edges ?? {}).filter(([id, edge]) => id !== speaker && edge & 1).map(([id]) => id);
        const wired = Object.values(view.wires).filter(({ from }) => from === speaker).map(({ to }) => to);
        motion.say(speaker, channel?.[0], listeners, wired, now);
      }
      wake();
    },
    /** The node at a point of the canvas; hits are never smaller than 24 pixels. @param {Point} point @param {number} [pixels] how far off its middle it is hit at least @returns {Node|undefined} */
    nodeAt(point, pixels = hitPixelsMin) {
      const scene = sceneAt(performance.now());
      let [best, least] = [/** @type {Node|undefined} */ (undefined), Infinity];
      for (const node of layout.nodes.values()) {
        const { x, y } = scene.at(node);
        const far = Math.hypot(x - point.x, y - point.y);
        if (far <= Math.max(pixels, hitPixelsMin, radiusOf(scene, node) + 4) && far < least) [best, least] = [node, far];
      }
      return best;
    },
    /** How far a point is from a node's middle, as a share of its radius. @param {Node} node @param {Point} point */
    farFrom(node, point) {
      const { x, y } = lens.toCanvas(node);
      return Math.hypot(x - point.x, y - point.y) / (creatureRadius * lens.camera.scale);
    },
    /** The graph whose hull holds a point of the canvas. @param {Point} point */
    graphAt(point) {
      const inWorld = lens.toWorld(point);
      return hulls.find(({ points, alpha }) => alpha === 1 && isInside(points, inWorld))?.id;
    },
    /** Move the camera to a node that is out of sight. @param {string} id */
    reveal(id) {
      const node = layout.nodes.get(id);
      if (node && lens.camera.isFree && !lens.isInRoom(node)) Object.assign(lens.camera, { x: node.x, y: node.y });
      wake();
    },
    /** Close somebody's eyes for a moment. @param {string} id */
    blink(id) {
      if (isReduced() || layout.areDots() || document.hidden) return;
      shown.blinking = id;
      wake();
      setTimeout(() => {
        shown.blinking = "";
        wake();
      }, blinkMilliseconds);
    },
    fit() {
      lens.follow();
      wake();
    },
    /** Colours are others: another theme. */
    recolour() {
      forgetFaces();
      for (const node of layout.nodes.values()) colours.delete(node.id);
      for (const id of layout.circles.keys()) colours.delete(`graph ${id}`);
      wake();
    },
    /** Draw at once: for pictures that are taken. */
    drawNow() {
      if (handle) cancelAnimationFrame(handle);
      frame(performance.now());
    },
    end() {
      isEnded = true;
      if (handle) cancelAnimationFrame(handle);
      clearTimeout(timer);
      wish.removeEventListener("change", wake);
    },
  };
}
