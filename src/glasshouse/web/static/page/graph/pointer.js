// @ts-check
/**
 * What the pointer does on the canvas: it looks, selects, pans and zooms; from the edge of a creature it draws a line to another
 * one or to a channel, and it drags a creature out of its hull. Every change has a twin in the menus and on the keyboard.
 */
import { signal } from "@preact/signals";
import { canvasColour } from "page/colours";
import { forecast } from "page/commands";
import { canEdit, channelsOf, connection, make } from "page/graph/changes";
import { hullOf, isInside } from "page/graph/geometry";
import { openDialog, selection } from "page/store";

/**
 * @typedef {import("page/graph/layout").Node} Node
 * @typedef {{x: number, y: number}} Point
 * @typedef {{node?: Node, text?: string, isRefused?: boolean, isOpen?: boolean, x: number, y: number}} Tip
 * @typedef {{kind: "pan"}|{kind: "move", node: Node, isOut: boolean}|{kind: "line", node: Node}} Drag
 */

const clickPixels = 5;
const tipMilliseconds = 260;
const forecastMilliseconds = 160;
const wheelStep = 0.0016;
const edgeFrom = 0.66;
const edgeTo = 1.7;
const outPixels = 26;
/** A finger hits a node from so far off its middle. */
const fingerPixels = 24;
/** A finger that rests so long opens the menu, as everywhere on a phone. */
const pressMilliseconds = 500;
const pressPixels = 10;

/** What is told beside the pointer. */
export const tip = signal(/** @type {Tip|null} */ (null));
/** The menu that is open: on a node, on a graph or on the ground. */
export const menu = signal(/** @type {{x: number, y: number, node?: Node, graph?: string}|null} */ (null));

/** @param {HTMLCanvasElement} canvas @param {ReturnType<typeof import("page/graph/picture").makePicture>} picture */
export function listenToPointer(canvas, picture) {
  const { shown, lens } = picture;
  /** @type {Map<number, Point>} */
  const pressed = new Map();
  /** @type {Drag|null} */
  let drag = null;
  let start = { x: 0, y: 0 };
  let hasMoved = false;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let pressTimer;
  /** Forecasts by what is asked: each is asked for once a drag. @type {Map<string, {text: string, isRefused: boolean}|null>} */
  let forecasts = new Map();
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;

  /** @param {PointerEvent|MouseEvent|WheelEvent} event @returns {Point} */
  const pointOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  /** Tell what a change would do, beside the pointer. @param {import("page/graph/changes").Change} change @param {Point} point */
  function foretell(change, point) {
    const key = JSON.stringify(change);
    const known = forecasts.get(key);
    clearTimeout(timer);
    tip.value = known ? { ...known, ...point } : { text: "…", isOpen: true, ...point };
    for (const ghost of shown.ghosts) ghost.isRefused = known?.isRefused ?? false;
    if (known !== undefined) return;
    timer = setTimeout(async () => {
      forecasts.set(key, null);
      const asked = forecasts;
      const answer = await forecast(change.what, change.fields);
      asked.set(key, answer);
      if (asked !== forecasts || !tip.value?.isOpen) return;
      tip.value = { ...answer, x: tip.value.x, y: tip.value.y };
      for (const ghost of shown.ghosts) ghost.isRefused = answer.isRefused;
      picture.wake();
    }, forecastMilliseconds);
  }

  /** @param {Point} point */
  function hover(point) {
    const node = picture.nodeAt(point);
    const far = node?.kind === "creature" ? picture.farFrom(node, point) : Infinity;
    const at = node ? lens.toCanvas(node) : point;
    const angle = Math.atan2(point.y - at.y, point.x - at.x);
    const isOnEdge = node !== undefined && canEdit() && far > edgeFrom && far < edgeTo;
    const reach = node ? Math.hypot(at.x - point.x, at.y - point.y) / Math.max(0.01, far) : 0;
    shown.handle = isOnEdge ? { x: at.x + Math.cos(angle) * (reach + 5), y: at.y + Math.sin(angle) * (reach + 5) } : null;
    canvas.classList.toggle("is-over", node !== undefined);
    canvas.classList.toggle("is-edge", isOnEdge);
    if ((node?.id ?? "") !== shown.hovered) {
      shown.hovered = node?.id ?? "";
      clearTimeout(timer);
      tip.value = null;
      if (node) timer = setTimeout(() => (tip.value = { node, x: at.x, y: at.y }), tipMilliseconds);
    }
    picture.wake();
  }

  /** @param {Extract<Drag, {kind: "line"}>} line @param {Point} point */
  function drawLine(line, point) {
    const aimed = picture.nodeAt(point);
    const change = aimed ? connection(line.node.id, aimed) : undefined;
    shown.target = change && aimed ? aimed.id : "";
    const from = lens.toCanvas(line.node);
    const to = change && aimed ? lens.toCanvas(aimed) : point;
    shown.ghosts = [{ from, to, isRefused: false, isCut: false, colour: canvasColour("accent") }];
    shown.litGraphs = change && aimed ? [aimed.graph, line.node.graph] : [];
    if (change) foretell(change, to);
    else {
      clearTimeout(timer);
      tip.value = { text: "Drop it on a creature or a channel", ...point };
    }
    picture.wake();
  }

  /** @param {Extract<Drag, {kind: "move"}>} move @param {Point} point */
  function moveNode(move, point) {
    const inWorld = lens.toWorld(point);
    Object.assign(move.node, { fx: inWorld.x, fy: inWorld.y, x: inWorld.x, y: inWorld.y });
    const channels = channelsOf(move.node.id);
    const others = picture.layout.circles.get(move.node.graph)?.nodes.filter(({ id }) => id !== move.node.id) ?? [];
    const out = outPixels / lens.camera.scale;
    move.isOut = move.node.kind === "creature" && canEdit() && channels.length > 0 && others.length > 0 && !isInside(hullOf(others.map(({ x, y, pad }) => ({ x, y, pad: pad + out }))), inWorld);
    shown.held = move.isOut ? move.node.id : "";
    shown.ghosts = move.isOut ? channels.map(([id]) => ({ from: point, to: lens.toCanvas(/** @type {Node} */ (picture.layout.nodes.get(id))), isRefused: true, isCut: true, colour: canvasColour("coral") })) : [];
    if (move.isOut && channels.length === 1) foretell({ what: "leave_channel", fields: { creature: move.node.id, channel: channels[0][0] } }, point);
    else tip.value = move.isOut ? { text: `Leaves one of ${channels.length} channels`, ...point } : null;
    picture.layout.warm(0.12);
    picture.wake();
  }

  function letGo() {
    clearTimeout(timer);
    if (drag?.kind === "move") Object.assign(drag.node, { fx: null, fy: null });
    Object.assign(shown, { target: "", ghosts: [], litGraphs: [], held: "" });
    tip.value = null;
    drag = null;
    forecasts = new Map();
    canvas.classList.remove("is-panning");
    picture.wake();
  }

  /** @param {PointerEvent} event */
  function onDown(event) {
    if (event.button !== 0) return;
    const point = pointOf(event);
    canvas.setPointerCapture(event.pointerId);
    pressed.set(event.pointerId, point);
    tip.value = null;
    clearTimeout(timer);
    if (pressed.size > 1) {
      clearTimeout(pressTimer);
      letGo();
      return;
    }
    [start, hasMoved] = [point, false];
    const isFinger = event.pointerType === "touch";
    const node = picture.nodeAt(point, isFinger ? fingerPixels : 0);
    if (isFinger) {
      clearTimeout(pressTimer);
      pressTimer = setTimeout(() => openMenuAt(event, fingerPixels), pressMilliseconds);
    }
    // A finger covers what it would drag: it moves the picture, and draws a line only from who was chosen before.
    if (!node || (isFinger && (selection.value?.id !== node.id || !canEdit()))) drag = { kind: "pan" };
    else if (node.kind === "creature" && canEdit() && (isFinger || picture.farFrom(node, point) > edgeFrom)) drag = { kind: "line", node };
    else drag = { kind: "move", node, isOut: false };
  }

  /** @param {PointerEvent} event */
  function onMove(event) {
    const point = pointOf(event);
    const before = pressed.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch") hover(point);
      return;
    }
    pressed.set(event.pointerId, point);
    if (pressed.size === 2) {
      pinch(event.pointerId, before, point);
      return;
    }
    hasMoved ||= Math.hypot(point.x - start.x, point.y - start.y) > (event.pointerType === "touch" ? pressPixels : clickPixels);
    if (hasMoved) clearTimeout(pressTimer);
    if (!drag || !hasMoved) return;
    shown.handle = null;
    if (drag.kind === "pan") {
      canvas.classList.add("is-panning");
      lens.pan(point.x - before.x, point.y - before.y);
      picture.wake();
    } else if (drag.kind === "line") drawLine(drag, point);
    else moveNode(drag, point);
  }

  /** @param {number} id @param {Point} before @param {Point} point */
  function pinch(id, before, point) {
    const other = [...pressed].find(([one]) => one !== id)?.[1];
    if (!other) return;
    const [was, is] = [Math.hypot(before.x - other.x, before.y - other.y), Math.hypot(point.x - other.x, point.y - other.y)];
    lens.zoom(is / Math.max(1, was), { x: (point.x + other.x) / 2, y: (point.y + other.y) / 2 });
    lens.pan((point.x - before.x) / 2, (point.y - before.y) / 2);
    picture.wake();
  }

  /** @param {PointerEvent} event */
  function onUp(event) {
    clearTimeout(pressTimer);
    if (!pressed.delete(event.pointerId) || !drag) return;
    const point = pointOf(event);
    const ended = drag;
    if (!hasMoved) {
      const node = picture.nodeAt(point, event.pointerType === "touch" ? fingerPixels : 0);
      const graph = node ? undefined : picture.graphAt(point);
      selection.value = node ? { kind: node.kind, id: node.id } : graph ? { kind: "graph", id: graph } : null;
    } else if (ended.kind === "line") {
      const aimed = picture.nodeAt(point);
      const change = aimed ? connection(ended.node.id, aimed) : undefined;
      if (change) void make(change);
    } else if (ended.kind === "move") {
      const channels = channelsOf(ended.node.id);
      if (ended.isOut && channels.length === 1) void make({ what: "leave_channel", fields: { creature: ended.node.id, channel: channels[0][0] } });
      else if (ended.isOut) openDialog("disconnect", { creature: ended.node.id });
      picture.layout.warm(0.3);
    }
    letGo();
  }

  /** @param {PointerEvent} event */
  function onCancel(event) {
    clearTimeout(pressTimer);
    pressed.delete(event.pointerId);
    letGo();
  }

  function onLeave() {
    if (pressed.size) return;
    Object.assign(shown, { hovered: "", handle: null });
    clearTimeout(timer);
    tip.value = null;
    picture.wake();
  }

  /** @param {WheelEvent} event */
  function onWheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    lens.zoom(Math.exp(-event.deltaY * lines * wheelStep * (event.ctrlKey ? 4 : 1)), pointOf(event));
    tip.value = null;
    picture.wake();
  }

  /** @param {MouseEvent} event */
  function onMenu(event) {
    event.preventDefault();
    if (!menu.value) openMenuAt(event, 0); // A long press has opened it already.
  }

  /** @param {MouseEvent} event @param {number} pixels */
  function openMenuAt(event, pixels) {
    const point = pointOf(event);
    const node = picture.nodeAt(point, pixels);
    clearTimeout(pressTimer);
    pressed.clear();
    letGo();
    menu.value = { x: event.clientX, y: event.clientY, node, graph: node ? undefined : picture.graphAt(point) };
  }

  const handlers = /** @type {[string, any][]} */ ([["pointerdown", onDown], ["pointermove", onMove], ["pointerup", onUp], ["pointercancel", onCancel], ["pointerleave", onLeave], ["contextmenu", onMenu]]);
  for (const [name, handler] of handlers) canvas.addEventListener(name, handler);
  canvas.addEventListener("wheel", onWheel, { passive: false });
  return () => {
    for (const [name, handler] of handlers) canvas.removeEventListener(name, handler);
    canvas.removeEventListener("wheel", onWheel);
    clearTimeout(timer);
    clearTimeout(pressTimer);
    tip.value = menu.value = null;
  };
}
