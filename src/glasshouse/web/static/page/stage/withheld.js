// @ts-check
/** Tools that are withheld because their servers describe them otherwise now, until a director accepts that. */
import { html } from "page/html";
import { nameOf } from "page/apply";
import { acceptTool } from "page/commands";
import { icon } from "page/icons";
import { harmless } from "page/plain";
import { isDirector, isLive, moment, view } from "page/store";
import { Button } from "page/ui";

const namesMax = 3;

/** @typedef {{tool: string, run: string, granted?: import("page/apply").DescribedTool, now?: import("page/apply").DescribedTool, names: string[]}} Withheld */

/** What is withheld in runs that are not over, once for all creatures that know the same of it. @param {import("page/apply").View} shownView */
function withheldIn({ creatures, runs, tools = {} }) {
  /** @type {Map<string, Withheld>} */
  const byKey = new Map();
  for (const { handle, title, run = "", withheld = {} } of Object.values(creatures)) {
    if (runs[run]?.state === "finished") continue;
    for (const [tool, [granted, now]] of Object.entries(withheld)) {
      const key = [run, tool, granted, now].join(" ");
      if (!byKey.has(key)) byKey.set(key, { tool, run, granted: tools[granted], now: tools[now], names: [] });
      byKey.get(key)?.names.push(harmless(title ?? nameOf(handle)));
    }
  }
  return [...byKey];
}

export function WithheldTools() {
  moment.value;
  const shownView = view();
  const some = shownView ? withheldIn(shownView) : [];
  if (!some.length) return null;
  return html`<ul class="proposals is-withheld" aria-label="Tools that are withheld">
    ${some.map(([key, { tool, run, granted, now, names }]) => html`<li key=${key}>${icon("tool", 14)}<span><b>${harmless(tool)}</b> is withheld from ${listed(names)}: its server has changed it.
      ${granted && granted.text === now?.text && granted.is_read_only === now.is_read_only ? html`<small>Its words are the same: something else in its definition has changed.</small>` : null}</span>
      ${now && run && isDirector.value && isLive.value ? html`<span class="answers"><${Button} label="Accept" title="Let them use it as it is now" onClick=${() => acceptTool(run, tool, now.digest)} /></span>` : null}
      ${granted && now ? html`<div class="descriptions"><${Description} label="As it was granted" tool=${granted} /><${Description} label="What its server says now" tool=${now} /></div>` : null}
    </li>`)}
  </ul>`;
}

/** A stranger's words, quoted. @param {{label: string, tool: import("page/apply").DescribedTool}} props */
function Description({ label, tool }) {
  return html`<figure><figcaption>${label}${tool.is_read_only ? ", marked as read-only" : ""}</figcaption><blockquote dir="auto">${harmless(tool.text) || "Nothing."}</blockquote></figure>`;
}

/** "Moth, Newt and 4 others". @param {string[]} names */
function listed(names) {
  const last = names.length > namesMax ? `${names.length - namesMax + 1} others` : names[names.length - 1];
  const before = names.slice(0, Math.min(names.length, namesMax) - 1);
  return before.length ? `${before.join(", ")} and ${last}` : last;
}
