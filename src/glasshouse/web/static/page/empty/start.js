// @ts-check
/** A start: what is sent for a play that begins, and what happens then. */
import { closeDialog, open, source } from "page/store";

/** Start a play and show it. A refusal is thrown, in the server's words. @param {any} request */
export async function startPlay(request) {
  const begun = await source().post("runs", request);
  closeDialog();
  void open(begun.id, { isStep: true });
}
