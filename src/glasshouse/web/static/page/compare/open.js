// @ts-check
/** How two branches are put side by side. */
import { setAddress } from "page/address";
import { panel } from "page/store";

/** Show another run beside the one that is open. @param {string} run */
export function compareWith(run) {
  panel.value = `compare:${run}`;
  setAddress({ panel: panel.value });
}

export function endComparing() {
  panel.value = "";
  setAddress({ panel: "" });
}
