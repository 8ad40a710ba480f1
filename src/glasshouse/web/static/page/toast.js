// @ts-check
/** Short messages at the edge of the page, and what a screen reader is told. */
import { signal } from "@preact/signals";

/** @typedef {{id: number, text: string, kind: "note"|"error", actions: {label: string, run(): void}[]}} Toast */

const toastsMax = 3;
const secondsShown = 7;
const announceSeconds = 3;

/** @type {import("@preact/signals").Signal<Toast[]>} */
export const toasts = signal([]);
/** What was announced last. */
export const announced = signal("");

let counter = 0;
let announceAfter = 0;
let waiting = "";

/** @param {string} text @param {{kind?: "note"|"error", action?: {label: string, run(): void}, actions?: {label: string, run(): void}[]}} [how] */
export function toast(text, how = {}) {
  counter += 1;
  const shown = { id: counter, text, kind: how.kind ?? "note", actions: how.actions ?? (how.action ? [how.action] : []) };
  toasts.value = [...toasts.value.filter((other) => other.text !== text), shown].slice(-toastsMax);
  setTimeout(() => dismiss(shown.id), secondsShown * 1000);
}

/** @param {number} id */
export function dismiss(id) {
  toasts.value = toasts.value.filter((shown) => shown.id !== id);
}

/** Tell a screen reader, at most once every three seconds: the newest of what came meanwhile. @param {string} text */
export function announce(text) {
  const now = performance.now();
  waiting = text;
  if (now < announceAfter) return;
  announceAfter = now + announceSeconds * 1000;
  tell();
  setTimeout(tell, announceSeconds * 1000);
}

function tell() {
  if (waiting) announced.value = waiting;
  waiting = "";
}
