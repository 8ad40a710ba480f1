// @ts-check
/** Make a branch and show it. The run that it grows from stays as it is. */
import { branch, post } from "page/commands";
import { compareWith } from "page/compare/open";
import { closeDialog, open, session } from "page/store";
import { toast } from "page/toast";

/** How long the name of a branch may be. */
export const nameCharsMax = 40;

/**
 * Make a branch at an event, name it and open it. Returns whether it was made.
 * @param {any} change what is otherwise, and whether it is played at once
 * @param {{at: string, k: number, name: string}} where the event, its number and the name of the branch
 */
export async function growBranch(change, { at, k, name }) {
  const parent = session.value.run;
  const begun = await branch(change, at);
  if (!begun) return false;
  const label = name.slice(0, nameCharsMax).trim();
  if (label) await post(`runs/${encodeURIComponent(begun.id)}/labels`, { labels: [label] });
  closeDialog();
  void open(begun.id, { isStep: true });
  toast(`A branch from event ${k}. The run it grew from stays as it is.`, {
    actions: [
      { label: "Compare", run: () => compareWith(parent) },
      { label: "Go back", run: () => void open(parent, { at, isStep: true }) },
    ],
  });
  return true;
}
