// @ts-check
/**
 * Which form the page has: "wide" with panels side by side, "phone" with one panel at a time, or "low", which scrolls as a whole: a phone
 * on its side, or a page that is enlarged to 400 %.
 */
import { computed, signal } from "@preact/signals";

/** @typedef {"wide"|"phone"|"low"} Form */

const narrow = matchMedia("(max-width: 820px)");
const low = matchMedia("(max-height: 479.98px)");

/** @returns {Form} */
const formNow = () => (low.matches ? "low" : narrow.matches ? "phone" : "wide");

export const form = signal(formNow());
/** Whether everything is large enough for a finger: on a phone always, and on a low page if it is touched. */
export const hasFingers = computed(() => form.value === "phone" || (form.value === "low" && isCoarse.value));

const coarse = matchMedia("(pointer: coarse)");
const isCoarse = signal(coarse.matches);
coarse.addEventListener("change", ({ matches }) => (isCoarse.value = matches));
for (const query of [narrow, low]) query.addEventListener("change", () => (form.value = formNow()));
