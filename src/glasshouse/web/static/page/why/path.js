// @ts-check
/**
 * The path from an event back to its beginning, numbered: 1 is the event itself. The graph draws it, cards and lanes show its
 * numbers.
 */
import { computed, signal } from "@preact/signals";

/**
 * One link of the path: which event, who did it and how what led to it came to them. `isDisturbance`: a visitor did it. `to`: the number
 * of the link that it led to, or that cites it; 0 for the event itself.
 * @typedef {{n: number, k: number, id: string, actor: string, handle: string, graph: string, isDisturbance: boolean, came: string|null, to: number}} PathLink
 */

/** The path that the page shows; null: none. */
export const path = signal(/** @type {{eventId: string, k: number, links: PathLink[], selected: number}|null} */ (null));

/** The smallest number of each creature on the path, by its id. */
export const numbersOnPath = computed(() => {
  /** @type {Map<string, number>} */
  const numbers = new Map();
  for (const { actor, n } of path.value?.links ?? []) if (!numbers.has(actor)) numbers.set(actor, n);
  return numbers;
});
