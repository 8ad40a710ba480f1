// @ts-check
/** How many events came in each of the last sixty seconds. Counted by the page itself, from the newest event's number. */
import { effect } from "@preact/signals";
import { head } from "page/store";

export const secondsKept = 60;

/** @type {number[]} */
const counts = Array(secondsKept).fill(0);
let last = second();
let before = 0;

function second() {
  return Math.floor(Date.now() / 1000);
}

/** Forget what is older than a minute. */
function moveOn() {
  const now = second();
  for (let passed = Math.min(now - last, secondsKept); passed > 0; passed -= 1) {
    counts.shift();
    counts.push(0);
  }
  last = now;
}

effect(() => {
  const k = head.value;
  // A run that is opened has all its events at once: they did not happen just now.
  if (k === before + 1) {
    moveOn();
    counts[secondsKept - 1] += 1;
  }
  before = k;
});

/** Events per second, the oldest first. @returns {number[]} */
export function throughput() {
  moveOn();
  return [...counts];
}
