// @ts-check
/** The feed: every event in one line, grouped by turn. */
import { html, useEffect, useState } from "page/html";
import { address } from "page/address";
import { Button, IconButton, Menu } from "page/ui";
import { register } from "page/keys";
import { recordsPerPage } from "page/source";
import { isDrawer, isDrawerOpen, tab } from "page/sides";
import { filters, head, isRewound, loadPage, moment, panel, record, selection, session, shown, view } from "page/store";
import { isCurtainDown, verdictTold } from "page/curtain/state";
import { Chips, Choices, isChoosing, isSearching, isUnfiltered, openSearch, Search } from "page/feed/filters";
import { DrawerClose } from "page/feed/drawer";
import { List, listed } from "page/feed/list";

/** Have the feed in sight, also where it is a drawer or a tab. */
function showFeed() {
  if (isDrawer()) isDrawerOpen.value = true;
  tab.value = "feed";
}

function openChoices() {
  showFeed();
  isChoosing.value = true;
}

/** Files and links are made by a part that is loaded when somebody wants one. @param {"csv"|"jsonl"} format */
const exportAs = (format) => import("page/feed/export").then((part) => part.exportAs(format));
const copyLink = () => import("page/feed/export").then((part) => part.copyLink());

/** The event that "why" asks about: the verdict on the curtain, the row that has the focus, what is selected, or the last line of the creature that is. @returns {Promise<string>} */
async function askedAbout() {
  if (isCurtainDown.value && verdictTold.value) return verdictTold.value;
  const row = document.activeElement?.closest(".feed-row, .script-row");
  if (row instanceof HTMLElement) return record(Number(row.dataset.k))?.id ?? "";
  const chosen = selection.value;
  if (chosen?.kind === "event") return chosen.id;
  const spoken = chosen?.kind === "creature" ? view()?.creatures[chosen.id]?.line?.n : undefined;
  const k = spoken ?? (isRewound.value ? shown.value : lastLine());
  if (!k) return "";
  if (!record(k)) await loadPage(Math.floor((k - 1) / recordsPerPage));
  return record(k)?.id ?? "";
}

/** The number of the newest line. */
const lastLine = () => Math.max(0, ...Object.values(view()?.creatures ?? {}).map((creature) => creature.line?.n ?? 0));

async function openWhy() {
  const id = await askedAbout();
  if (id) panel.value = `why:${id}`;
}

const hasRun = () => session.value.run !== "";

export function Feed() {
  useEffect(() => {
    const ends = [
      register({ id: "filter", key: "F", label: "Filter the events", group: "Events", when: hasRun, run: openChoices }),
      register({ id: "search", key: "/", label: "Search the events", group: "Events", when: hasRun, run: () => (showFeed(), openSearch()) }),
      register({ id: "why", key: "W", label: "Why was this said?", group: "Events", when: hasRun, run: () => void openWhy() }),
      register({ id: "export-csv", label: "Download the events as CSV", group: "Events", when: hasRun, run: () => void exportAs("csv") }),
      register({ id: "export-json", label: "Download the events as JSON", group: "Events", when: hasRun, run: () => void exportAs("jsonl") }),
    ];
    return () => ends.forEach((end) => end());
  }, []);
  const isOpen = head.value > 0;
  useEffect(() => {
    const linked = address().panel;
    if (isOpen && linked?.startsWith("why:")) panel.value = linked;
  }, [isOpen]);
  return html`<${Header} /><${Chips} />${isSearching.value ? html`<${Search} />` : null}<${List} />`;
}

function Header() {
  const [menu, setMenu] = useState(/** @type {{x: number, y: number}|null} */ (null));
  const { creature, graph, channel } = filters.value;
  const close = () => {
    isChoosing.value = false;
    document.getElementById("feed-filter-button")?.focus();
  };
  /** @param {MouseEvent} event */
  const openMenu = (event) => {
    const { right, bottom } = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    setMenu({ x: right - 200, y: bottom + 4 });
  };
  return html`<header class="feed-header">
    <h2 class="panel-title">Events</h2><${Count} />
    <span class="spacer"></span>
    <${Button} id="feed-filter-button" label="Filter" kbd="F" isPressed=${isChoosing.value || Boolean(creature || graph || channel)} onClick=${() => (isChoosing.value ? close() : openChoices())} />
    <${IconButton} label="Search the events" kbd="/" icon="search" isPressed=${isSearching.value} onClick=${openSearch} />
    <${Button} label="Export" onClick=${openMenu} />
    <${DrawerClose} />
    ${isChoosing.value ? html`<${Choices} onClose=${close} />` : null}
    ${menu
      ? html`<${Menu} label="Export the events" x=${menu.x} y=${menu.y} onClose=${() => setMenu(null)} items=${[
          { label: "Download CSV", icon: "download", run: () => void exportAs("csv") },
          { label: "Download JSON", icon: "download", run: () => void exportAs("jsonl") },
          { label: "Copy link", icon: "link", run: () => void copyLink() },
        ]} />`
      : null}
  </header>`;
}

function Count() {
  moment.value;
  const { rows, hasGaps } = listed.value;
  const words = isUnfiltered() ? String(shown.value) : `${rows}${hasGaps ? "+" : ""} of ${shown.value}`;
  return html`<span class="count" title=${head.value > shown.value ? `${head.value} in all` : undefined}>${words}</span>`;
}
