// @ts-check
/** The theme, and colours as the canvas needs them: resolved, since a canvas knows no variables. */
import { signal } from "@preact/signals";

const graphColours = 8;
const themeKey = "glasshouse.theme";

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
  try {
    localStorage.setItem(themeKey, next);
  } catch {
    // A browser that keeps nothing forgets the theme.
  }
  show(next);
}

/** @param {"light"|"dark"} next */
function show(next) {
  document.documentElement.dataset.theme = next;
  resolved.clear();
  theme.value = next;
}

// Until somebody chooses, the page follows the system, which may change in the evening.
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", ({ matches }) => {
  try {
    if (localStorage.getItem(themeKey)) return;
  } catch {
    // Nothing is kept, so nobody has chosen for longer than this visit.
  }
  show(matches ? "dark" : "light");
});

/** The css colour of a graph. @param {number} colour */
export const graphColour = (colour) => `var(--g${colour % graphColours})`;
/** The css colour of text in a graph's colour. @param {number} colour */
export const graphInk = (colour) => `var(--g${colour % graphColours}-ink)`;

/** A token's colour in this theme, such as `canvasColour("g0")`. @param {string} token @returns {string} */
export function canvasColour(token) {
  let colour = resolved.get(token);
  if (colour === undefined) {
    colour = getComputedStyle(document.documentElement).getPropertyValue(`--${token}`).trim();
    resolved.set(token, colour);
  }
  return colour;
}

/** The canvas colour of a graph. @param {number} colour */
export const canvasGraphColour = (colour) => canvasColour(`g${colour % graphColours}`);
