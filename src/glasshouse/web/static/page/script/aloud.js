// @ts-check
/** Lines read aloud by a screen reader, one at a time: the next one waits until the last can have been heard. */
import { signal } from "@preact/signals";

const keptAs = "glasshouse.aloud";
/** Voices read slower than eyes: a usual speed of screen readers. */
const wordsPerMinute = 180;
const millisecondsMin = 1500;

/** Whether new lines of the script are read aloud. */
export const isAloud = signal(kept());
/** What is being read. */
export const spoken = signal("");

/** @type {ReturnType<typeof setTimeout>|undefined} */
let timer;
let waiting = "";

function kept() {
  try {
    return localStorage.getItem(keptAs) === "on";
  } catch {
    return false;
  }
}

/** @param {boolean} isOn */
export function turnAloud(isOn) {
  isAloud.value = isOn;
  spoken.value = waiting = "";
  clearTimeout(timer);
  timer = undefined;
  try {
    localStorage.setItem(keptAs, isOn ? "on" : "off");
  } catch {
    // A browser that keeps nothing forgets it.
  }
}

/** Read a line aloud, at once or when the one before it is over. Of several that wait, the newest is read. @param {string} words */
export function say(words) {
  if (!isAloud.value) return;
  waiting = words;
  if (timer === undefined) next();
}

function next() {
  timer = undefined;
  if (!waiting) return;
  const count = waiting.split(/\s+/).length;
  spoken.value = waiting;
  waiting = "";
  timer = setTimeout(next, Math.max(millisecondsMin, (count * 60_000) / wordsPerMinute));
}
