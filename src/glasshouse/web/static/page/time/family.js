// @ts-check
/** The family of a run: all runs that grew from the same beginning, and where they leave the story that is shown. */
import { effect, signal } from "@preact/signals";
import { head, session, source } from "page/store";

/**
 * @typedef {{id: string, name: string, title: string, state: string, winner: string|null, branch_of: string|null,
 *   branch_at: string|null, leaves_at: number|null, session: string|null, events: number, labels: string[]}} Relative
 */

/** What the run is called that the others branched from, while nobody has named it. */
export const originalName = "original";

/** @type {import("@preact/signals").Signal<Relative[]>} */
export const family = signal([]);
/** Other runs, where they leave this story. */
export const forks = signal(/** @type {Omit<import("page/time/lanes").Fork, "row">[]} */ ([]));

/** Keep the family of the run that is shown. Returns what ends that. */
export function followFamily() {
  let shownRun = "";
  return effect(() => {
    const { run } = session.value;
    if (head.value === 0 || run === shownRun) return;
    shownRun = run;
    [family.value, forks.value] = [[], []];
    void loadFamily();
  });
}

/** Ask for the family again: somebody may have branched meanwhile. */
export async function loadFamily() {
  const { run } = session.value;
  try {
    const lineage = await source().lineage(run);
    if (session.peek().run !== run) return;
    family.value = named(lineage.family);
    forks.value = family.value.flatMap(({ id, name, leaves_at: at, session, events }) =>
      at && session ? { run: id, title: name, at, session, length: Math.max(1, events - at) } : [],
    );
  } catch {
    // Lanes without forks are no reason to disturb anybody; the next one who asks tries again.
  }
}

/** @param {Omit<Relative, "name">[]} runs @returns {Relative[]} */
function named(runs) {
  let branches = 0;
  return runs.map((run) => {
    if (run.branch_of) branches += 1;
    return { ...run, name: run.labels[0] ?? (run.branch_of ? `branch ${branches}` : originalName) };
  });
}

