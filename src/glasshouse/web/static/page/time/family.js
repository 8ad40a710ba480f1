// @ts-check
/** The family of a run: the run it branched from, and the runs that branched from it. */
import { signal } from "@preact/signals";

export const forks = signal(/** @type {Omit<import("page/time/lanes").Fork, "row">[]} */ ([]));
