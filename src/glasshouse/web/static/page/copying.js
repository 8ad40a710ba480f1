// @ts-check
/** Copies a text, where the browser lets a page do that. */
import { toast } from "page/toast";

/** @param {string} text @param {string} done what is said when it is copied */
export async function copy(text, done) {
  if ((await copied(text)) || copiedBySelection(text)) toast(done);
  else toast(`This browser lets no page copy. ${text}`);
}

/** @param {string} text */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** The old way, for pages that may not use the clipboard. @param {string} text */
function copiedBySelection(text) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "hidden";
  document.body.append(field);
  field.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    field.remove();
  }
}
