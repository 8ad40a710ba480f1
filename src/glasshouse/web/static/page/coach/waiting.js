// @ts-check
/** When the hints for newcomers are loaded: a while after the first picture, which is drawn without them. */
import { effect, signal } from "@preact/signals";
import { isStill } from "page/address";
import { head } from "page/store";

const hintMilliseconds = 3000;
const isAskedFor = new URLSearchParams(globalThis.location?.search ?? "").has("coach");

export const areHintsDue = signal(false);

/** Wait until something is shown, and a little longer. Where tests look, hints stay away unless the address asks for them. Returns what ends the wait. */
export const waitForHints = () =>
  effect(() => {
    if (!head.value || areHintsDue.peek() || (isStill && !isAskedFor)) return undefined;
    const timer = setTimeout(() => (areHintsDue.value = true), isStill ? 0 : hintMilliseconds);
    return () => clearTimeout(timer);
  });
