// @ts-check
/** The limits of a run: which there are, in words, and what was spent of each. */
import { dollars, short } from "page/ui";

/** @type {{name: string, label: string, words: string, spent: "turns"|"calls"|"tokens"|"usd", show: (value: number) => string}[]} */
export const limits = [
  { name: "max_turns", label: "Turns", words: "turn limit", spent: "turns", show: String },
  { name: "max_total_calls", label: "Calls", words: "call limit", spent: "calls", show: String },
  { name: "max_total_tokens", label: "Tokens", words: "token limit", spent: "tokens", show: short },
  { name: "max_total_usd", label: "Spend", words: "spend limit", spent: "usd", show: dollars },
  { name: "hourly_budget_usd", label: "Spend in an hour", words: "spend limit of an hour", spent: "usd", show: dollars },
];

const otherWords = /** @type {{[axis: string]: string}} */ ({ max_calls_per_turn: "limit of calls in a turn", max_wall_minutes: "time limit" });

/** A limit in words. @param {string|undefined} axis */
export const limitWords = (axis) => limits.find(({ name }) => name === axis)?.words ?? otherWords[axis ?? ""] ?? "a limit";
