// @ts-check
/**
 * Where bubbles stand round a table: those of upper seats above them, those of lower seats below. The newest line has the first choice and is
 * whole; an older one stands where it covers nothing, or not at all.
 *
 * Always holds: no bubble covers a face, a name or another bubble, and each is inside of the room.
 *
 * @typedef {import("page/graph/bubble_places").Box} Box
 * @typedef {import("page/table/seats").Layout} Layout
 * @typedef {import("page/table/seats").Seat} Seat
 * @typedef {{id: string, heightAt: (width: number) => number}} Measured
 * @typedef {{box: Box, isAbove: boolean, tail: number, isWhole: boolean, lines: number}} Place tail: where on its edge the bubble points to its face
 */
import { overlap } from "page/graph/bubble_places";
import { seatsIn } from "page/table/seats";

/** Widths of the newest, in this order: the first one in which its line is whole. */
const newestWidths = [230, 270, 314, 380, 460, 560, 668];
const olderWidths = [230, 214];
/** Between a bubble and its face: the tail. */
const tailPixels = 15;
const gap = 6;
/** How far a bubble may stand to the side of its face, and in which steps that is tried. */
const sideStep = 12;
const cornerPixels = 22;
/** An older bubble: its head and edges, a line, and how many lines it has. */
export const olderHead = 38;
const olderLine = 20;
export const olderLinesMax = 5;
const olderLinesMin = 2;

/**
 * The table for a room, and the bubbles round it. The room that an earlier line needed is kept while it helps, so that the table does not move with
 * each line.
 * @param {import("page/table/seats").Member[]} members
 * @param {import("page/table/seats").Size} size
 * @param {Measured[]} bubbles the newest first
 * @param {import("page/table/seats").Bands} [kept] that an earlier line needed
 * @returns {{layout: Layout, places: Map<string, Place>, bands: import("page/table/seats").Bands}}
 */
export function tableFor(members, size, bubbles, kept = noBands) {
  const [newest] = bubbles;
  const usual = seatsIn(members, size);
  const seat = usual.seats.find(({ id }) => id === newest?.id);
  if (!seat) {
    const layout = seatsIn(members, size, kept);
    return { layout, places: placesIn(layout, bubbles, null), bands: kept };
  }
  const tried = [kept, noBands, bandsFor(newest, seat, usual)].map((bands) => {
    const layout = seatsIn(members, size, bands);
    return { bands, layout, place: newestPlace(newest, layout) };
  });
  const best = bestOf(tried);
  return { layout: best.layout, places: placesIn(best.layout, bubbles, best.place), bands: best.bands };
}

const noBands = { top: 0, bottom: 0 };

/** The room for the whole newest line on the side of whoever speaks, over the whole width. @param {Measured} newest @param {Seat} seat @param {Layout} layout */
function bandsFor(newest, seat, layout) {
  const wanted = newest.heightAt(widthsIn(layout).at(-1) ?? 0) + tailPixels + 2;
  return seat.isUpper ? { top: wanted, bottom: 0 } : { top: 0, bottom: wanted };
}

/**
 * The table as it is kept, unless the newest line is cut there or has to be wider than at the usual one; else the first at which it is whole, else
 * the last, which has the most room for it.
 * @template {{place: Place|null}} T @param {T[]} tried kept, usual, made for the line
 */
function bestOf([kept, usual, made]) {
  const widthOf = (/** @type {T} */ { place }) => (place?.isWhole ? place.box.right - place.box.left : Infinity);
  if (widthOf(kept) < Infinity && widthOf(kept) <= widthOf(usual)) return kept;
  return widthOf(usual) < Infinity ? usual : made;
}

/** @param {Layout} layout */
function widthsIn({ room }) {
  const most = room.right - room.left;
  return [...newestWidths.filter((width) => width < most), Math.min(most, newestWidths[newestWidths.length - 1])];
}

/** @param {Layout} layout @param {Measured[]} bubbles @param {Place|null} first @returns {Map<string, Place>} */
function placesIn(layout, bubbles, first) {
  /** @type {Map<string, Place>} */
  const places = new Map();
  for (const [at, bubble] of bubbles.entries()) {
    const place = at === 0 ? first : olderPlace(bubble, layout, [...places.values()].map(({ box }) => box));
    if (place) places.set(bubble.id, place);
  }
  return places;
}

/** Where the newest stands: the narrowest in which it is whole, else the largest, which scrolls inside. @param {Measured} bubble @param {Layout} layout @returns {Place|null} */
function newestPlace(bubble, layout) {
  const seat = layout.seats.find(({ id }) => id === bubble.id);
  if (!seat) return null;
  /** @type {Place|null} */
  let largest = null;
  let most = 0;
  for (const width of widthsIn(layout)) {
    const height = bubble.heightAt(width);
    for (const { left, edge, free } of slotsFor(seat, width, layout)) {
      if (height <= free) return placed(seat, { left, width, edge, height }, true);
      if (free * width <= most) continue;
      most = free * width;
      largest = placed(seat, { left, width, edge, height: free }, false);
    }
  }
  return largest;
}

/** @param {Measured} bubble @param {Layout} layout @param {Box[]} taken @returns {Place|null} */
function olderPlace(bubble, layout, taken) {
  const seat = layout.seats.find(({ id }) => id === bubble.id);
  if (!seat) return null;
  // Fewer lines only where there is no room for all of it.
  for (let lines = olderLinesMax; lines >= olderLinesMin; lines -= 1) {
    for (const width of olderWidths) {
      const whole = bubble.heightAt(width);
      const height = Math.min(whole, olderHead + olderLine * lines);
      for (const { left, edge, free } of slotsFor(seat, width, layout)) {
        if (height > free) continue;
        const place = placed(seat, { left, width, edge, height }, height >= whole);
        if (!taken.some((box) => overlap(place.box, box, gap))) return { ...place, lines };
      }
    }
  }
  return null;
}

/**
 * Where a bubble of a width may stand: how far to the left, which edge of it is nearest to the table, and how much room there is behind that edge.
 * Those straight above or below their face come first.
 * @param {Seat} seat @param {number} width @param {Layout} layout
 */
function slotsFor(seat, width, { seats, room }) {
  const obstacles = seats.flatMap(({ id, face, label }) => [...(id === seat.id ? [] : [face]), ...(label ? [label] : [])]);
  const beside = width / 2 - cornerPixels;
  const lefts = [0];
  for (let by = sideStep; by <= beside; by += sideStep) lefts.push(-by, by);
  return lefts.flatMap((by) => {
    const left = Math.max(room.left, Math.min(room.right - width, seat.x - width / 2 + by));
    if (left < room.left || left + width > room.right) return [];
    const near = obstacles.filter((box) => box.left < left + width + gap && left < box.right + gap);
    if (seat.isUpper) {
      const edge = Math.min(seat.face.top - tailPixels, ...near.filter((box) => box.top < seat.face.bottom).map((box) => box.top - gap));
      return [{ left, edge, free: edge - room.top }];
    }
    const edge = Math.max(seat.face.bottom + tailPixels, ...near.filter((box) => box.bottom > seat.face.top).map((box) => box.bottom + gap));
    return [{ left, edge, free: room.bottom - edge }];
  });
}

/** @param {Seat} seat @param {{left: number, width: number, edge: number, height: number}} slot @param {boolean} isWhole @returns {Place} */
function placed(seat, { left, width, edge, height }, isWhole) {
  const [top, bottom] = seat.isUpper ? [edge - height, edge] : [edge, edge + height];
  const tail = Math.max(cornerPixels, Math.min(width - cornerPixels, seat.x - left));
  return { box: { left, right: left + width, top, bottom }, isAbove: seat.isUpper, tail, isWhole, lines: olderLinesMax };
}
