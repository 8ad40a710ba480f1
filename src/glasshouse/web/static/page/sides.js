// @ts-check
/** Where the panels are: the widths of the side panels, dragged or moved by arrow keys and remembered; and which panel a narrow
 * page shows. */
import { html } from "page/html";
import { effect, signal } from "@preact/signals";
import { address, setAddress } from "page/address";
import { form } from "page/form";

const bounds = { stage: [264, 520], feed: [280, 560] };
const stepPixels = 24;
const usual = { stage: 352, feed: 356 };

const { layout } = address();

/** Which of the three panels a phone shows. */
export const tab = signal(/** @type {"words"|"graph"|"feed"} */ (layout === "graph" || layout === "feed" ? layout : "words"));
/** Whether the drawer with the events is open, where it is a drawer. */
export const isDrawerOpen = signal(layout === "feed");

/** Whether a phone shows the lanes, in a sheet. */
export const areLanesOpen = signal(false);

/** Whether the events are a drawer: the page is too narrow for three panels, and too wide for tabs. */
export const isDrawer = () => innerWidth <= 1180 && areSidesFree();

/** Keep in the address which panel a narrow page shows. Returns what ends that. */
export const keepLayoutInAddress = () =>
  effect(() => {
    const [panel, hasDrawer] = [tab.value, isDrawerOpen.value];
    const shown = isDrawer() ? (hasDrawer ? "feed" : "") : form.value !== "phone" || panel === "words" ? "" : panel;
    if (shown !== (address().layout ?? "")) setAddress({ layout: shown });
  });

export const sideWidths = signal(kept());

function kept() {
  try {
    return { ...usual, ...JSON.parse(localStorage.getItem("glasshouse.sides") ?? "{}") };
  } catch {
    return usual;
  }
}

/** Whether there is room for panels side by side. */
export const areSidesFree = () => form.value === "wide";

/** @param {"stage"|"feed"} side @param {number} width */
function setWidth(side, width) {
  const [least, most] = bounds[side];
  sideWidths.value = { ...sideWidths.value, [side]: Math.round(Math.max(least, Math.min(most, width))) };
  try {
    localStorage.setItem("glasshouse.sides", JSON.stringify(sideWidths.value));
  } catch {
    // A browser that keeps nothing forgets it.
  }
}

/** @param {{side: "stage"|"feed"}} props */
export function Divider({ side }) {
  const sign = side === "stage" ? 1 : -1;
  /** @param {PointerEvent} event */
  const onPointerDown = (event) => {
    const bar = /** @type {HTMLElement} */ (event.currentTarget);
    const [from, width] = [event.clientX, sideWidths.value[side]];
    bar.setPointerCapture(event.pointerId);
    /** @param {PointerEvent} move */
    const drag = (move) => setWidth(side, width + sign * (move.clientX - from));
    bar.addEventListener("pointermove", drag);
    bar.addEventListener("pointerup", () => bar.removeEventListener("pointermove", drag), { once: true });
  };
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    const by = { ArrowLeft: -stepPixels, ArrowRight: stepPixels }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setWidth(side, sideWidths.value[side] + sign * by);
  };
  const [least, most] = bounds[side];
  return html`<div class=${`divider at-${side}-edge`} role="separator" tabindex="0" aria-orientation="vertical" aria-label=${`Width of the ${side === "stage" ? "stage" : "events"}`}
    aria-valuenow=${sideWidths.value[side]} aria-valuemin=${least} aria-valuemax=${most} onPointerDown=${onPointerDown} onKeyDown=${onKeyDown}></div>`;
}
