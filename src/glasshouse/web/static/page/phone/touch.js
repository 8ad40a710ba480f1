// @ts-check
/** What fingers do: a swipe to another tab, and a long press where a mouse has its right button. */

/** A shorter way, or one that leads as much up or down, is no swipe. */
const swipePixels = 56;
const swipeSlope = 2;
/** As long as systems wait before they open a menu. */
const pressMilliseconds = 500;
const pressPixels = 10;

/** What moves sideways by itself under a finger. */
const movable = "canvas, .tracks, .strip-faces, .face-switch, .feed-chips, input, textarea, select, .menu";

/** Where the finger came down: there is one at a time, and panels are drawn again while it is there. @type {{x: number, y: number}|null} */
let start = null;

/** Handlers that tell of a swipe: 1 to what is at the right, -1 to what is at the left. @param {(by: 1|-1) => void} onSwipe */
export function swiping(onSwipe) {
  return {
    onTouchStart: (/** @type {TouchEvent} */ event) => {
      const isFree = event.touches.length === 1 && event.target instanceof Element && !event.target.closest(movable);
      start = isFree ? { x: event.touches[0].clientX, y: event.touches[0].clientY } : null;
    },
    onTouchEnd: (/** @type {TouchEvent} */ event) => {
      const end = event.changedTouches[0];
      if (!start || !end) return;
      const [right, down] = [end.clientX - start.x, end.clientY - start.y];
      start = null;
      if (Math.abs(right) >= swipePixels && Math.abs(right) > swipeSlope * Math.abs(down)) onSwipe(right < 0 ? 1 : -1);
    },
  };
}

/** @type {ReturnType<typeof setTimeout>|undefined} */
let timer;
/** Where the press began, and whether it was long enough. @type {{x: number, y: number}|null} */
let pressed = null;
let wasLong = false;

function endPress() {
  clearTimeout(timer);
  pressed = null;
}

/** Handlers that tell of a long press, or of the right button of a mouse; no click follows. @param {(x: number, y: number) => void} onPress */
export function onLongPress(onPress) {
  return {
    onPointerDown: (/** @type {PointerEvent} */ event) => {
      wasLong = false;
      if (event.pointerType === "mouse") return;
      const { clientX: x, clientY: y } = event;
      pressed = { x, y };
      clearTimeout(timer);
      timer = setTimeout(() => {
        wasLong = true;
        onPress(x, y);
      }, pressMilliseconds);
    },
    onPointerMove: (/** @type {PointerEvent} */ event) => {
      if (pressed && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > pressPixels) endPress();
    },
    onPointerUp: endPress,
    onPointerCancel: endPress,
    onContextMenu: (/** @type {MouseEvent} */ event) => {
      event.preventDefault();
      endPress();
      if (!wasLong) onPress(event.clientX, event.clientY);
      wasLong = true;
    },
    onClickCapture: (/** @type {MouseEvent} */ event) => {
      // A key clicks without a press before it.
      if (!wasLong || event.detail === 0) return;
      wasLong = false;
      event.preventDefault();
      event.stopPropagation();
    },
  };
}
