// @ts-check
/** Keyboard: one list of what can be done, from which the keys, the help and the palette are made. */
import { signal } from "@preact/signals";

/**
 * `isFor` tells whether it is for whoever looks on at all, `when` whether it can be done now.
 * @typedef {{id: string, label: string, group: string, key?: string, isFor?: () => boolean, when?: () => boolean, run: () => void,
 *   isHidden?: boolean}} Action
 */

/** @type {Map<string, Action>} */
const actions = new Map();
const kept = (() => {
  try {
    return localStorage.getItem("glasshouse.keys");
  } catch {
    return null;
  }
})();

/** Whether single letters do something (WCAG 2.1.4: they can be turned off). */
export const areLettersOn = signal(kept !== "off");

/** @param {boolean} isOn */
export function turnLetters(isOn) {
  areLettersOn.value = isOn;
  try {
    localStorage.setItem("glasshouse.keys", isOn ? "on" : "off");
  } catch {
    // A browser that keeps nothing forgets it.
  }
}

/** Offer something to do. Returns what takes it back. @param {Action} action */
export function register(action) {
  actions.set(action.id, action);
  return () => {
    if (actions.get(action.id) === action) actions.delete(action.id);
  };
}

/** Everything that can be done now. */
export const offered = () => [...actions.values()].filter((action) => !action.isHidden && (action.when?.() ?? true));
/** Everything that has a key and is for whoever looks on, whether or not it can be done now. */
export const withKeys = () => [...actions.values()].filter((action) => action.key && (action.isFor?.() ?? true));

/** Do something by its id. @param {string} id */
export function perform(id) {
  const action = actions.get(id);
  if (action && (action.when?.() ?? true)) action.run();
}

/** @param {KeyboardEvent} event */
function nameOf(event) {
  const isLetter = event.key.length === 1;
  const parts = [];
  if (event.ctrlKey || event.metaKey) parts.push("Ctrl");
  if (event.altKey) parts.push("Alt");
  if (event.shiftKey && (!isLetter || /[[\]{}]/.test(event.key))) parts.push("Shift");
  const shifted = { "{": "[", "}": "]", " ": "Space" };
  const key = shifted[/** @type {"{"|"}"|" "} */ (event.key)] ?? event.key;
  parts.push(isLetter && key.length === 1 ? key.toUpperCase() : key);
  return parts.join("+");
}

const typing = "input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]";

/** Listen to the keyboard. @param {() => boolean} isCovered whether a dialog is open */
export function listen(isCovered) {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const target = event.target instanceof Element ? event.target : null;
    const pressed = nameOf(event);
    const isPlain = !pressed.startsWith("Ctrl+") && pressed !== "Escape";
    if (isPlain && (target?.closest(typing) || isCovered())) return;
    if (isPlain && !areLettersOn.value && event.key.length === 1) return;
    // A focused button takes Space and Enter for itself.
    if ((pressed === "Space" || pressed === "Enter") && target?.closest("button, a, [role=button], [role=treeitem]")) return;
    for (const action of actions.values()) {
      if (!action.key?.split(" ").includes(pressed) || !(action.when?.() ?? true)) continue;
      event.preventDefault();
      action.run();
      return;
    }
  });
}
