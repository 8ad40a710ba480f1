// @ts-check
/** How two runs are put side by side. */
import { panel } from "page/store";

/** Show another run beside the one that is open. @param {string} run */
export function compareWith(run) {
  panel.value = `compare:${run}`;
}

export function endComparing() {
  panel.value = "";
}
