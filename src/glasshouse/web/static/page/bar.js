// @ts-check
/** The top bar: what plays, how it stands, what it has spent, and the buttons that are always there. */
import { html, useEffect, useState } from "page/html";
import { icon, mark } from "page/icons";
import { Button, dollars, IconButton, Menu, Meter, short } from "page/ui";
import { flipTheme, theme } from "page/colours";
import { compareWith } from "page/compare/open";
import { family, loadFamily, originalName } from "page/time/family";
import { harmless } from "page/plain";
import { canDisturb, folded, goLive, isDirector, moment, open, openDialog, run, session, shown, status } from "page/store";

const words = /** @type {{[status: string]: string}} */ ({
  live: "Live",
  paused: "Paused",
  pausing: "Pausing: one act ends first",
  finished: "Recorded",
  recorded: "Recorded",
  reconnecting: "Reconnecting",
  loading: "Opening",
  idle: "No run",
  error: "Not shown",
});

export function Bar() {
  moment.value;
  const shownRun = run();
  useTabTitle();
  return html`<header class="bar">
    <a class="mark" href="./" aria-label="Glasshouse" onClick=${(/** @type {Event} */ event) => (event.preventDefault(), openDialog("archive"))}>${mark()}<b>Glasshouse</b></a>
    ${shownRun ? html`<span class="slash" aria-hidden="true">/</span><h1>${shownRun.title}</h1><${BranchPill} />${shownRun.is_edited ? html`<span class="pill" title="Its world was edited before the start">edited</span>` : null}` : html`<h1 class="hidden">Glasshouse</h1>`}
    ${StatusPill()}
    <span class="spacer"></span>
    ${shownRun ? Meters() : null}
    ${canDisturb.value && shownRun ? html`<${Button} key="disturb" label="Disturb" icon="bolt" kbd="I" onClick=${() => openDialog("disturb")} />` : null}
    ${isDirector.value ? html`<${IconButton} key="start" label="New play" icon="plus" onClick=${() => openDialog("start")} />` : null}
    ${shownRun ? html`<${IconButton} key="share" label="Share" icon="share" onClick=${() => openDialog("share")} />` : null}
    <${IconButton} key="archive" label="Archive" icon="archive" onClick=${() => openDialog("archive")} />
    <${IconButton} key="theme" label=${theme.value === "dark" ? "Light theme" : "Dark theme"} kbd="D" icon=${theme.value === "dark" ? "sun" : "moon"} onClick=${flipTheme} />
  </header>`;
}

/** Have the browser's tab say which run is shown and how it stands. */
export function useTabTitle() {
  const shownRun = run();
  const tabTitle = shownRun ? `${harmless(shownRun.title)} · ${statusWords()} · Glasshouse` : "Glasshouse";
  useEffect(() => void (document.title = tabTitle), [tabTitle]);
}

/** What a menu of branches offers: to open each, and to compare with it. Nothing where there is but one. */
export function familyItems() {
  const runs = family.value;
  const mine = session.value.run;
  if (runs.length < 2) return [];
  return [
    ...runs.map((relative) => ({ label: relative.name, icon: relative.id === mine ? "check" : "branch", run: () => void (relative.id !== mine && open(relative.id, { isStep: true })) })),
    ...runs.filter((relative) => relative.id !== mine).map((relative) => ({ label: `Compare with ${relative.name}`, icon: "compare", run: () => compareWith(relative.id) })),
  ];
}

/** Which branch this is; a menu of the whole family where there is one. */
function BranchPill() {
  const [menu, setMenu] = useState(/** @type {{x: number, y: number}|null} */ (null));
  const runs = family.value;
  const mine = session.value.run;
  const name = runs.find((relative) => relative.id === mine)?.name ?? (run()?.branch_of ? "branch" : originalName);
  if (runs.length < 2) return html`<span class="pill mono">${name}</span>`;
  return html`<button type="button" class="pill mono" aria-haspopup="menu" aria-expanded=${menu !== null} title="Branches of this run" onClick=${(/** @type {MouseEvent} */ event) => {
      const { left, bottom } = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
      setMenu({ x: left, y: bottom + 4 });
      void loadFamily();
    }}>${name}${icon("chevron", 12)}</button>
    ${menu ? html`<${Menu} label="Branches of this run" ...${menu} items=${familyItems()} onClose=${() => setMenu(null)} />` : null}`;
}

/** How the run stands, in words. */
/** How far a long story is read that no page has shown yet. */
const progressWords = () => (folded.value?.of ? `Opening, event ${folded.value.k.toLocaleString("en")} of ${folded.value.of.toLocaleString("en")}` : words.loading);

const statusWords = () => (status.value === "rewound" ? `Rewound to ${shown.value}` : status.value === "loading" ? progressWords() : words[status.value]);

export function StatusPill() {
  const now = status.value;
  const text = statusWords();
  const isGuest = session.value.isGuest;
  return html`<span class=${`pill status is-${now}`} role="status">
    ${now === "live" || now === "reconnecting" ? html`<i class="dot" aria-hidden="true"></i>` : null}
    ${now === "rewound" ? html`<button type="button" title="Back to live (End)" onClick=${goLive}>${text}</button>` : text}
  </span>${isGuest ? html`<span class="pill" title=${session.value.holder}>Guest</span>` : null}`;
}

/** @param {number} value @param {number|null|undefined} limit @returns {""|"near"|"full"} */
const stateOf = (value, limit) => (!limit ? "" : value >= limit ? "full" : value >= limit * 0.8 ? "near" : "");

export function Meters() {
  const { spent, limits } = /** @type {import("page/apply").Run} */ (run());
  const most = limits ?? {};
  const rows = /** @type {[string, number|null, number|null|undefined, (value: number) => string][]} */ ([
    ["Turns", spent.turns, most.max_turns, String],
    ["Calls", spent.calls, most.max_total_calls, String],
    ["Tokens", spent.tokens, most.max_total_tokens, short],
    ["Spend", spent.usd, most.max_total_usd ?? most.hourly_budget_usd, (value) => dollars(value)],
  ]);
  return html`<button type="button" class="meters" title="Open costs and limits" onClick=${() => openDialog("purse")}>
    ${rows.map(([label, value, limit, words]) => html`<${Meter} label=${label} value=${value === null ? "unknown" : words(value)} of=${limit ? words(limit) : ""}
      share=${value !== null && limit ? value / limit : null} state=${value === null ? "" : stateOf(value, limit)} />`)}
  </button>`;
}

