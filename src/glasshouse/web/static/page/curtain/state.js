// @ts-check
/**
 * Whether the curtain is down: the run has ended, and the page shows its end.
 *
 * Always holds: any seek takes it away, since it tells of the end alone; going live at the end shows it again.
 */
import { computed, effect, signal } from "@preact/signals";
import { headView, isRewound, moment, panel, session } from "page/store";

/** Whether somebody put it aside to look at the stage as it was at the end. */
const isAside = signal(false);

/** Whether the run that is shown has ended. */
export const hasEnded = computed(() => (moment.value, headView()?.runs[session.value.run]?.ending !== undefined));
export const isCurtainDown = computed(() => hasEnded.value && !isRewound.value && !isAside.value && !panel.value);

/** The verdict that the curtain tells of: what "why" asks about there. */
export const verdictTold = signal("");

/** Look at the stage as it was at the end. */
export const putCurtainAside = () => {
  isAside.value = true;
};
/** Show the end again. */
export const showCurtain = () => {
  isAside.value = false;
};

// Another run, and whoever comes back from the past, sees the end first.
effect(() => {
  session.value.run;
  isRewound.value;
  isAside.value = false;
});
