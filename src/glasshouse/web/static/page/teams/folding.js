// @ts-check
/**
 * The turns up to the moment shown, kept between drawings: each record is folded once, and older ones when somebody scrolls up to them.
 *
 * Always holds: what is folded has no gap. A page that jumps to a moment far away folds anew from there.
 */
import { noTurns, takeIn } from "page/teams/turns";

/** How many records before the moment shown are folded at first: a story of any length opens at once. */
export const recordsAtFirst = 2000;
/** How many more are folded when somebody scrolls up to the oldest. */
export const recordsMore = 1000;

/** @param {(k: number) => import("page/apply").Record|undefined} recordOf */
export function makeFolding(recordOf) {
  let turns = noTurns(0);
  let key = "";
  /** Of which event on somebody wants to see it all. */
  let wanted = Infinity;

  /**
   * The turns up to an event.
   * @param {number} k @param {string} story what they depend on beside the records: another one begins anew @param {(handle: string) => string} teamOf
   */
  function upTo(k, story, teamOf) {
    if (story !== key) wanted = Infinity;
    const first = Math.min(wanted, Math.max(1, k - recordsAtFirst));
    const isGap = k > turns.to && !recordOf(turns.to + 1);
    if (story !== key || k <= turns.from || isGap || (wanted <= turns.from && recordOf(turns.from))) {
      turns = noTurns(startOf(k, first));
      key = story;
    }
    for (let next = recordOf(turns.to + 1); next && turns.to < k; next = recordOf(turns.to + 1)) takeIn(turns, next, teamOf);
    return turns;
  }

  /** The number before the oldest record that is there without a gap. @param {number} k @param {number} first */
  function startOf(k, first) {
    let from = k;
    while (from >= first && recordOf(from)) from -= 1;
    return from;
  }

  return {
    upTo,
    /** Fold older records from now on. Returns the number of the oldest that is wanted. */
    more() {
      wanted = Math.max(1, turns.from + 1 - recordsMore);
      return wanted;
    },
  };
}
