// @ts-check
/** The handles that creatures have had in the story: also of those that are gone, whom rows still name. */
import { session } from "page/store";

/** @type {Set<string>} */
let handles = new Set();
let run = "";

/** Note whom a record brings. @param {import("page/apply").Record} record */
export function noteHandles({ d }) {
  if (run !== session.value.run) {
    run = session.value.run;
    handles = new Set();
  }
  for (const [what, path, value] of d) if (what === "s" && path[0] === "creatures" && path.length === 2 && value?.handle) handles.add(value.handle);
}

/** Whether a creature of the story has had this handle, as far as its records are here. @param {string} word */
export const wasHandle = (word) => run === session.value.run && handles.has(word);
