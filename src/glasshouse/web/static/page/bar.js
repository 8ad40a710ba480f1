// @ts-check
/** The top bar: what plays, how it stands, what it has spent, and the buttons that are always there. */
import { html } from "page/html";
import { mark } from "page/icons";
import { Button, dollars, IconButton, Meter, short } from "page/ui";
import { flipTheme, theme } from "page/colours";
import { goLive, isDirector, moment, openDialog, run, session, shown, status } from "page/store";

const words = /** @type {{[status: string]: string}} */ ({
  live: "Live",
  paused: "Paused",
  pausing: "Pausing: one act ends first",
  finished: "Finished",
  reconnecting: "Reconnecting",
  loading: "Opening",
  idle: "No run",
  error: "Not shown",
});

export function Bar() {
  moment.value;
  const shownRun = run();
  return html`<header class="bar">
    <a class="mark" href="./" aria-label="Glasshouse" onClick=${(/** @type {Event} */ event) => (event.preventDefault(), openDialog("archive"))}>${mark()}<b>Glasshouse</b></a>
    ${shownRun ? html`<span class="slash" aria-hidden="true">/</span><h1>${shownRun.title}</h1>${BranchPill()}` : html`<h1 class="hidden">Glasshouse</h1>`}
    ${StatusPill()}
    <span class="spacer"></span>
    ${shownRun ? Meters() : null}
    ${isDirector.value && shownRun ? html`<${Button} label="Disturb" icon="bolt" kbd="I" onClick=${() => openDialog("disturb")} isDisabled=${shownRun.state === "finished"} />` : null}
    ${isDirector.value ? html`<${IconButton} label="New play" icon="plus" onClick=${() => openDialog("start")} />` : null}
    ${shownRun ? html`<${IconButton} label="Share" icon="share" onClick=${() => openDialog("share")} />` : null}
    <${IconButton} label="Archive" icon="archive" onClick=${() => openDialog("archive")} />
    <${IconButton} label=${theme.value === "dark" ? "Light theme" : "Dark theme"} kbd="D" icon=${theme.value === "dark" ? "sun" : "moon"} onClick=${flipTheme} />
  </header>`;
}

function BranchPill() {
  const parent = run()?.branch_of;
  return html`<span class="pill mono" title=${parent ? `A branch of ${parent.run_id} at ${parent.at}` : "Not a branch"}>${parent ? "branch" : "main"}</span>`;
}

function StatusPill() {
  const now = status.value;
  const text = now === "rewound" ? `Rewound to ${shown.value}` : words[now];
  const isGuest = session.value.isGuest;
  return html`<span class=${`pill status is-${now}`} role="status">
    ${now === "live" || now === "reconnecting" ? html`<i class="dot" aria-hidden="true"></i>` : null}
    ${now === "rewound" ? html`<button type="button" title="Back to live (End)" onClick=${goLive}>${text}</button>` : text}
  </span>${isGuest ? html`<span class="pill" title=${session.value.holder}>Guest</span>` : null}`;
}

/** @param {number} value @param {number|null|undefined} limit @returns {""|"near"|"full"} */
const stateOf = (value, limit) => (!limit ? "" : value >= limit ? "full" : value >= limit * 0.8 ? "near" : "");

function Meters() {
  const { spent, limits } = /** @type {import("page/apply").Run} */ (run());
  const most = limits ?? {};
  const rows = /** @type {[string, number|null, number|null|undefined, (value: number) => string][]} */ ([
    ["Turns", spent.turns, most.max_turns, String],
    ["Calls", spent.calls, most.max_total_calls, String],
    ["Tokens", spent.tokens, most.max_total_tokens, short],
    ["Spend", spent.usd, most.hourly_budget_usd, (value) => dollars(value)],
  ]);
  return html`<button type="button" class="meters" title="Open the figures" onClick=${() => openDialog("figures")}>
    ${rows.map(([label, value, limit, words]) => html`<${Meter} label=${label} value=${value === null ? "unknown" : words(value)} of=${limit ? words(limit) : ""}
      share=${value !== null && limit ? value / limit : null} state=${value === null ? "" : stateOf(value, limit)} />`)}
  </button>`;
}

