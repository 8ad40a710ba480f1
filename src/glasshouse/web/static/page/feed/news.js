// @ts-check
/** What a screen reader is told as it happens: scenes, merges, splits and verdicts, and nothing else. */
import { nameOf } from "page/apply";
import { firstChars, harmless } from "page/plain";
import { announce } from "page/toast";

const charsMax = 160;

/** @param {import("page/apply").Record} record @param {import("page/apply").View} view */
export function tellNews(record, view) {
  const { icon, actor } = record.row;
  const text = firstChars(harmless(record.row.text ?? ""), charsMax);
  if (icon === "world" && actor === "world") announce(view.scene.title ? `${harmless(view.scene.title)}. ${text}` : text);
  else if (icon === "merge") announce(`Merged: ${text}.`);
  else if (icon === "split") announce(`Split: ${text}.`);
  else if (icon === "judge") announce(`${nameOf(harmless(actor))} rules: ${text}`);
  else if (icon === "visitor") announce(`A visitor: ${text}`);
}
