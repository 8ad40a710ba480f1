// @ts-check
/** The theme, and colours as the canvas needs them: resolved, since a canvas knows no variables. */
import { signal } from "@preact/signals";

const graphColours = 8;

/** @type {import("@preact/signals").Signal<"light"|"dark">} */
export const theme = signal(document.documentElement.dataset.theme === "dark" ? "dark" : "light");

/** @type {Map<string, string>} */
const resolved = new Map();

/** Change to the other theme, and keep it. */
export function flipTheme() {
  setTheme(theme.value === "dark" ? "light" : "dark");
}

/** @param {"light"|"dark"} next */
export function setTheme(next) {
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("glasshouse.theme", next);
  } catch {
    // A browser that keeps nothing forgets the theme.
  }
  resolved.clear();
  theme.value = next;
}

/** The css colour of a graph. @param {number} colour */
export const graphColour = (colour) => `var(--g${colour % graphColours})`;
/** The css colour of text in a graph's colour. @param {number} colour */
export const graphInk = (colour) => `var(--g${colour % graphColours}-ink)`;

/** A token's colour in this theme, such as `canvasColour("g0")`. @param {string} token @returns {string} */
export function canvasColour(token) {
  let found = resolved.get(token);
  if (found === undefined) {
    found = getComputedStyle(document.documentElement).getPropertyValue(`--${token}`).trim();
    resolved.set(token, found);
  }
  return found;
}

/** The canvas colour of a graph. @param {number} colour */
export const canvasGraphColour = (colour) => canvasColour(`g${colour % graphColours}`);
