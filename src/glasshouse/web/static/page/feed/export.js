// @ts-check
/** The list as a file, or as a link. */
import { copy } from "page/copying";
import { linkTo } from "page/address";
import { download } from "page/ui";
import { indexFor } from "page/feed/index";
import { filters, head, isRewound, record, session, shown, source } from "page/store";

/** Download what the feed lists: the server writes it, since it has every event. @param {"csv"|"jsonl"} format */
export function exportAs(format) {
  if (source().kind === "file") return exportRows(format);
  const { kind, creature, graph, channel, text } = filters.value;
  const before = isRewound.value ? shown.value + 1 : "";
  const anchor = document.createElement("a");
  anchor.href = source().eventsAddress(session.value.run, { show: kind === "all" ? "" : kind, actor: creature, graph, channel, text, before, format });
  anchor.download = `events.${format}`;
  anchor.click();
  return undefined;
}

/** A shared file has rows and no server. @param {"csv"|"jsonl"} format */
function exportRows(format) {
  const index = indexFor(filters.value);
  const rows = [];
  for (let k = 1; k <= Math.min(head.value, shown.value); k += 1) {
    const entry = record(k);
    if (entry && index.isWanted(entry)) rows.push({ k, id: entry.id, ...entry.row });
  }
  const names = /** @type {const} */ (["k", "id", "icon", "actor", "channel", "turn", "text", "tokens", "usd"]);
  const text =
    format === "jsonl"
      ? rows.map((row) => JSON.stringify(row)).join("\n")
      : [names.join(","), ...rows.map((row) => names.map((name) => cell(row[name])).join(","))].join("\r\n");
  download(`events.${format}`, new Blob([text, "\n"], { type: format === "csv" ? "text/csv" : "application/jsonl" }));
}

/** A cell that no spreadsheet takes for a formula. @param {unknown} value */
function cell(value) {
  const text = String(value ?? "").replace(/^(?=[=+\-@\t\r])/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Copy the address of the page with some of it changed. @param {import("page/address").Address} [parts] */
export async function copyLink(parts = {}) {
  await copy(linkTo(parts), "The link is copied.");
}
