// @ts-check
/** The feed: every event in one line, grouped by turn. */
import { html } from "page/html";
import { Chip } from "page/ui";
import { filters, head, moment, setFilters, shown } from "page/store";
import { kinds } from "page/feed/kinds";
import { List, listed } from "page/feed/list";

export function Feed() {
  return html`<header class="feed-header">
      <h2 class="panel-title">Events</h2><${Count} />
      <span class="spacer"></span>
    </header>
    <${Chips} />
    <${List} />`;
}

function Count() {
  moment.value;
  const { kind, creature, graph, channel, text } = filters.value;
  const isPlain = kind === "all" && !creature && !graph && !channel && !text;
  const { rows, hasGaps } = listed.value;
  const words = isPlain ? String(shown.value) : `${rows}${hasGaps ? "+" : ""} of ${shown.value}`;
  return html`<span class="count" title=${head.value > shown.value ? `${head.value} in all` : undefined}>${words}</span>`;
}

function Chips() {
  const { kind } = filters.value;
  return html`<div class="feed-chips" role="group" aria-label="Kinds of events">
    ${kinds.map(({ id, label }) => html`<${Chip} key=${id} label=${label} isOn=${kind === id} onClick=${() => setFilters({ kind: id })} />`)}
  </div>`;
}
