// @ts-check
/**
 * Which form the page has: "wide" with panels side by side, "phone" with one panel at a time, or "low", which scrolls as a whole: a phone
 * on its side, or a page that is enlarged to 400 %.
 */
import { styled } from "page/sheets";
import { computed, effect, signal } from "@preact/signals";
import { theme } from "page/colours";
import { useEffect, useLayoutEffect } from "page/html";

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

const phoneSheets = ["phone/fingers", "phone/low", "phone/phone"];

/** The parts that only a phone and a low page have, once one of them is shown: a wide page does not load them. @type {import("@preact/signals").Signal<typeof import("page/phone/page")|null>} */
export const phone = signal(null);

/** Load what the form needs, now and when it changes. Returns what ends that. */
export const followForm = () =>
  effect(() => {
    if (form.value !== "wide" && !phone.peek()) void Promise.all([import("page/phone/page"), ...phoneSheets.map(styled)]).then(([parts]) => (phone.value = parts));
  });

/** Tell the style sheets which form the page has and how high a keyboard covers it, and the system which colour its bars have. */
export function useForm() {
  const { value: now } = form;
  const colour = theme.value;
  const isTouched = hasFingers.value;
  useLayoutEffect(() => {
    document.documentElement.dataset.form = now;
    document.documentElement.toggleAttribute("data-fingers", isTouched);
  }, [now, isTouched]);
  useEffect(() => {
    const ground = getComputedStyle(document.documentElement).getPropertyValue("--bg").trim();
    for (const meta of document.querySelectorAll("meta[name=theme-color]")) meta.setAttribute("content", ground);
  }, [colour]);
  useEffect(() => {
    const seen = globalThis.visualViewport;
    if (!seen) return undefined;
    const note = () => document.documentElement.style.setProperty("--keyboard", `${Math.max(0, Math.round(innerHeight - seen.height - seen.offsetTop))}px`);
    for (const name of ["resize", "scroll"]) seen.addEventListener(name, note);
    return () => ["resize", "scroll"].forEach((name) => seen.removeEventListener(name, note));
  }, []);
}
