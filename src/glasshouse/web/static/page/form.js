// @ts-check
/**
 * Which form the page has: "wide" with panels side by side, "phone" with one panel at a time, or "low", which scrolls as a whole: a phone
 * on its side, or a page that is enlarged to 400 %.
 */
import { signal } from "@preact/signals";

/** @typedef {"wide"|"phone"|"low"} Form */

const narrow = matchMedia("(max-width: 820px)");
const low = matchMedia("(max-height: 479.98px)");

/** @returns {Form} */
const formNow = () => (low.matches ? "low" : narrow.matches ? "phone" : "wide");

export const form = signal(formNow());
for (const query of [narrow, low]) query.addEventListener("change", () => (form.value = formNow()));
