// @ts-check
/** The axis of time: event numbers on the width of the panel. Bars, lanes and the playhead share it. */

/** @typedef {{width: number, first: number, end: number, events: number, x(k: number): number, k(x: number): number}} Axis */

const padding = { left: 24, right: 26 };
const endPixels = 46;
const eventsMin = 48;
const stepsPerDoubling = 4;

/**
 * @param {number} width of the drawing, in pixels
 * @param {number} events how many there is room for
 * @param {boolean} isOver whether nothing more will come
 * @returns {Axis}
 */
export function axisOf(width, events, isOver) {
  const first = padding.left;
  const end = Math.max(first + 1, width - padding.right - (isOver ? endPixels : 0));
  const each = (end - first) / (events - 1);
  return {
    width,
    first,
    end,
    events,
    x: (k) => first + (k - 1) * each,
    k: (x) => Math.max(1, Math.min(events, Math.round((x - first) / each) + 1)),
  };
}

/** Room to grow, in steps that get longer: so the drawing seldom changes its scale. @param {number} head @param {boolean} isOver */
export function roomFor(head, isOver) {
  if (isOver) return Math.max(head, 2);
  const doublings = Math.max(0, Math.log2((head * 1.04 + 2) / eventsMin));
  return Math.round(eventsMin * 2 ** (Math.ceil(doublings * stepsPerDoubling) / stepsPerDoubling));
}
