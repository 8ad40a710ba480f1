// @ts-check
/** How the studio is opened and left. */
import { panel } from "page/store";

/** Edit a world as texts. @param {string} world */
export function openStudio(world) {
  panel.value = `studio:${world}`;
}

export function leaveStudio() {
  panel.value = "";
}
