// @ts-check
/**
 * What is said, over the graph: the newest line whole in its band, with a stem to the face that says it, and older ones where there
 * is room. The cards say the same to a screen reader.
 *
 * Always holds: elements are measured once for a line and a width, and move with the frames of the picture.
 */
import { html, useEffect, useLayoutEffect, useRef, useState } from "page/html";
import { isStill } from "page/address";
import { form } from "page/form";
import { bubblesOf } from "page/graph/bubble_lines";
import { bandIn, isCrossed, newestBox, olderBox, olderSizes, sizeOf, stemStart, widthsIn } from "page/graph/bubble_places";
import { pillBox } from "page/graph/draw";
import { labelBox } from "page/graph/labels";
import { hasName, namedNode } from "page/graph/nodes";
import { radiusOf } from "page/graph/scene";
import { loadedFrom, moment, panel, record, status, view } from "page/store";

/**
 * @typedef {import("page/graph/bubble_lines").Bubble} Bubble
 * @typedef {import("page/graph/bubble_places").Box} Box
 * @typedef {import("page/graph/bubble_places").Size} Size
 * @typedef {import("page/graph/scene").Scene} Scene
 * @typedef {ReturnType<typeof import("page/graph/picture").makePicture>} Picture
 */

/** How long an older line stays while the play goes on. */
const olderMilliseconds = 20_000;
/** A shorter gap needs no stem: the tail is enough. */
const stemGap = 24;
const tailPixels = 7;
const facePixels = 5;
const stemWidths = { newest: 1.6, older: 0.8 };
/** From this place on, bubbles have neither frame nor stem. */
const unframedRank = 3;
/** A newest line with more letters is set smaller: an epilogue is whole in the band then. */
const longFrom = 480;
/** Up to this width a bubble grows until its head is whole. */
const headPixels = 314;
/** A crown and its ring reach beyond a face, as shares of its radius. */
const crowned = { r: 1.42, above: 0.5 };

/** @param {{picture: Picture|null}} props */
export function Bubbles({ picture }) {
  const layer = useRef(/** @type {HTMLDivElement|null} */ (null));
  const placer = useRef(/** @type {ReturnType<typeof makePlacer>|null} */ (null));
  moment.value;
  loadedFrom.value;
  const now = view();
  // The answer to a why has the line itself, and the graph shows its path. A low page has the line above, and no room for it here.
  const bubbles = now && form.value !== "low" && !panel.value.startsWith("why:") ? bubblesOf(now, record) : [];
  const faded = useFading(bubbles);
  useLayoutEffect(() => {
    if (!picture || !layer.current) return undefined;
    const made = makePlacer(layer.current, picture);
    placer.current = made;
    return picture.onFrame(made.place);
  }, [picture]);
  const shown = bubbles.map(({ key, to }, rank) => `${key} ${to} ${rank > 0 && faded.has(key)}`).join("\n");
  useLayoutEffect(() => {
    placer.current?.show(bubbles, faded);
    picture?.wake();
  }, [picture, shown]);
  return html`<div class="bubbles" ref=${layer} aria-hidden="true">
    ${bubbles.map(({ key, name, to, n, text, colour }, rank) => html`<div key=${key} data-n=${n} class=${`bubble of-${colour % 8} ${classOf(rank, text)}`} onClick=${() => askWhy(n)}>
      <div class="bubble-head"><b dir="auto">${name}</b><span dir="auto">${to}</span><i class="mono">${n}</i></div>
      <div class="bubble-words" tabindex="-1" dir="auto">${text}</div>
      <i class="bubble-tail"></i>
    </div>`)}
  </div>`;
}

/** @param {number} rank @param {string} text */
const classOf = (rank, text) => (rank === 0 ? `is-newest${text.length > longFrom ? " is-long" : ""}` : `is-older is-older-${rank}`);

/** @param {number} n */
function askWhy(n) {
  const id = record(n)?.id;
  if (id && !getSelection()?.toString()) panel.value = `why:${id}`;
}

/** Older lines that have stood long enough. None while the play stands still or the page looks back. @param {Bubble[]} bubbles */
function useFading(bubbles) {
  const [faded, setFaded] = useState(/** @type {Set<string>} */ (new Set()));
  const timers = useRef(/** @type {Map<string, ReturnType<typeof setTimeout>>} */ (new Map()));
  const isFading = status.value === "live" && !isStill;
  const older = isFading ? bubbles.slice(1).map(({ key }) => key) : [];
  useEffect(() => {
    for (const [key, timer] of timers.current) {
      if (older.includes(key)) continue;
      clearTimeout(timer);
      timers.current.delete(key);
    }
    const fade = (/** @type {string} */ key) => setFaded((before) => new Set([...before].filter((other) => timers.current.has(other))).add(key));
    for (const key of older) if (!timers.current.has(key)) timers.current.set(key, setTimeout(() => fade(key), olderMilliseconds));
  }, [older.join("\n")]);
  useEffect(() => () => timers.current.forEach((timer) => clearTimeout(timer)), []);
  return isFading ? faded : new Set();
}

/** Moves the elements of a layer with the picture below it. @param {HTMLDivElement} layer @param {Picture} picture */
function makePlacer(layer, picture) {
  /** @type {Bubble[]} */
  let bubbles = [];
  /** @type {Set<string>} */
  let faded = new Set();
  /** @type {Map<string, number>} */
  const heights = new Map();
  /** What older bubbles were placed for, and their stems. */
  let placedFor = "";
  /** @type {import("page/graph/scene").Stem[]} */
  let olderStems = [];
  let shownVersion = 0;
  void document.fonts?.ready.then(() => {
    heights.clear();
    placedFor = "";
    picture.wake();
  });

  /** The height of a bubble in a width. @param {HTMLElement} element @param {string} key @returns {(width: number) => number} */
  const heightOf = (element, key) => (width) => {
    const known = heights.get(`${key} ${width}`);
    if (known !== undefined) return known;
    element.style.width = `${width}px`;
    element.style.maxHeight = "none";
    const to = /** @type {HTMLElement} */ (element.querySelector(".bubble-head span"));
    const isHeadCut = width < headPixels && to.scrollWidth > to.clientWidth;
    const height = isHeadCut ? Infinity : element.offsetHeight;
    heights.set(`${key} ${width}`, height);
    return height;
  };

  /** @param {Bubble} bubble */
  const elementOf = ({ n }) => /** @type {HTMLElement|null} */ (layer.querySelector(`.bubble[data-n="${n}"]`));

  /** A frame of the picture is about to be drawn. @param {Scene} scene @param {boolean} isShifting */
  function place(scene, isShifting) {
    if (!bubbles.length) return;
    const size = { width: scene.width, height: scene.height };
    const faces = facesOf(scene);
    const isDragged = picture.shown.held !== "" || scene.ghosts.length > 0 || layer.parentElement?.querySelector(".is-panning") !== null;
    layer.classList.toggle("is-shifting", isShifting || isDragged);
    const covered = placeNewest(scene, size, faces);
    const wanted = `${shownVersion} ${size.width} ${size.height} ${[...faces.values()].map(({ left, top }) => `${Math.round(left)},${Math.round(top)}`).join(" ")}`;
    if (isShifting || isDragged) return;
    if (wanted !== placedFor) olderStems = placeOlder(scene, size, faces, covered);
    placedFor = wanted;
    scene.stems.push(...olderStems);
  }

  /** @param {Scene} scene @param {Size} size @param {Map<string, Face>} faces @returns {Box[]} what it covers */
  function placeNewest(scene, size, faces) {
    const [bubble] = bubbles;
    const element = elementOf(bubble);
    const face = faces.get(bubble.creature);
    if (!element || !face) {
      element?.classList.add("is-gone");
      return [];
    }
    const { top, bottom } = bandIn(size.height);
    const box = newestBox(sizeOf(widthsIn(size.width), heightOf(element, `${bubble.key} ${bubble.to}`), bottom - top), face, size);
    stand(element, box, bottom - top);
    const end = { x: face.x, y: face.top - facePixels };
    const isBelow = end.y - box.bottom > tailPixels;
    const x = stemStart(box, end, [...faces.values()].filter((other) => other !== face));
    const tail = /** @type {HTMLElement} */ (element.querySelector(".bubble-tail"));
    tail.style.left = `${x - box.left}px`;
    tail.classList.toggle("is-gone", !isBelow);
    if (end.y - box.bottom > stemGap) scene.stems.push({ from: { x, y: box.bottom + tailPixels }, to: end, colour: face.colour, width: stemWidths.newest });
    return [box, { left: Math.min(x, end.x) - 4, right: Math.max(x, end.x) + 4, top: box.bottom, bottom: end.y }];
  }

  /** @param {Scene} scene @param {Size} size @param {Map<string, Face>} faces @param {Box[]} covered @returns {import("page/graph/scene").Stem[]} */
  function placeOlder(scene, size, faces, covered) {
    const hulls = scene.hulls.filter(({ alpha }) => alpha === 1).map(({ points }) => points.map(scene.toCanvas));
    const obstacles = [...covered, ...faces.values(), ...labelsOf(scene), ...pillsOf(scene), ...controlsOver(layer)];
    /** @type {import("page/graph/scene").Stem[]} */
    const stems = [];
    for (const [rank, bubble] of bubbles.entries()) {
      const element = rank ? elementOf(bubble) : null;
      if (!element) continue;
      const face = faces.get(bubble.creature);
      const sizes = face && !faded.has(bubble.key) ? olderSizes(widthsIn(size.width), heightOf(element, `${bubble.key} ${bubble.to} older`)) : [];
      const box = face && sizes.length ? olderBox(sizes, face, { panel: size, obstacles, hulls, bottom: size.height - 40 }) : null;
      element.classList.toggle("is-gone", !box);
      if (!box || !face) continue;
      obstacles.push(box);
      stand(element, box, Infinity);
      const end = { x: face.x, y: face.top - facePixels };
      const start = { x: stemStart(box, end, []), y: box.bottom };
      const isClear = [...faces.values()].every((other) => other === face || !isCrossed(other, start, end));
      if (isClear && end.y - box.bottom > stemGap && rank < unframedRank) stems.push({ from: start, to: end, colour: face.colour, width: stemWidths.older });
    }
    return stems;
  }

  return {
    place,
    /** Take in which lines there are. @param {Bubble[]} lines @param {Set<string>} old that have stood long enough */
    show(lines, old) {
      bubbles = lines;
      faded = old;
      shownVersion += 1;
      const keys = new Set(lines.map(({ key }) => key));
      for (const known of heights.keys()) if (![...keys].some((key) => known.startsWith(key))) heights.delete(known);
    },
  };
}

/** @typedef {Box & {x: number, y: number, r: number, colour: string}} Face */

/** The faces and diamonds of a picture. @param {Scene} scene @returns {Map<string, Face>} */
function facesOf(scene) {
  /** @type {Map<string, Face>} */
  const faces = new Map();
  for (const node of scene.layout.nodes.values()) {
    const { x, y } = scene.at(node);
    const radius = radiusOf(scene, node);
    const isCrowned = node.entry.is_privileged && !scene.layout.areDots();
    const r = radius * (isCrowned ? crowned.r : 1);
    faces.set(node.id, { x, y, r, colour: scene.colourOf(node), left: x - r, right: x + r, top: y - r - (isCrowned ? radius * crowned.above : 0), bottom: y + r });
  }
  return faces;
}

/** @param {Scene} scene @returns {Box[]} */
const pillsOf = (scene) => (scene.layout.areDots() ? [] : scene.hulls.filter(({ points, alpha }) => points.length && alpha === 1).map((hull) => pillBox(scene, hull)));

/** The names of creatures and channels. @param {Scene} scene @returns {Box[]} */
function labelsOf(scene) {
  if (scene.layout.areDots()) return [];
  const named = [...scene.layout.nodes.values()].filter((node) => hasName(scene, node));
  return named.map((node) => labelBox(namedNode(scene, node), scene.slots.get(node.id) ?? "below"));
}

/** What else lies over the canvas. @param {HTMLElement} layer @returns {Box[]} */
function controlsOver(layer) {
  const { left, top } = layer.getBoundingClientRect();
  const controls = layer.parentElement?.querySelectorAll(".graph-head, .graph-counts, .graph-actions, .graph-legend") ?? [];
  return [...controls].map((control) => {
    const box = control.getBoundingClientRect();
    return { left: box.left - left, right: box.right - left, top: box.top - top, bottom: box.bottom - top };
  });
}

/** @param {HTMLElement} element @param {Box} box @param {number} heightMax */
function stand(element, box, heightMax) {
  element.style.width = `${box.right - box.left}px`;
  element.style.maxHeight = heightMax === Infinity ? "none" : `${heightMax}px`;
  element.style.transform = `translate(${Math.round(box.left)}px, ${Math.round(box.top)}px)`;
  element.classList.remove("is-gone");
}
