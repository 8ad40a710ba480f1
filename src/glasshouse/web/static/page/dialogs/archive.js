// @ts-check
/** The archive: every run of the store, searched, filtered and sorted; and who won how often. */
import { compareWith } from "page/compare/open";
import { html, useEffect, useRef, useState } from "page/html";
import { nameOf } from "page/apply";
import { linkTo } from "page/address";
import { post } from "page/commands";
import { icon } from "page/icons";
import { canImport, chooseFile } from "page/importing";
import { Downloads, Leaderboard } from "page/dialogs/leaderboard";
import { Thumbnail } from "page/dialogs/thumbnail";
import { harmless } from "page/plain";
import { closeDialog, isDirector, open, openDialog, session, source } from "page/store";
import { ago, Button, Dialog, dollars } from "page/ui";

/**
 * @typedef {{id: string, world: string, title: string, state: string, reason: string|null, winner: string|null, seed: string, turns: number,
 *   events: number, usd: number|null, began: string, branch_of: string|null, labels: string[], is_imported: boolean, is_edited?: boolean, lanes: any[]}} RunRow
 * @typedef {{search: string, world: string, state: string, since: string, until: string, cost: string, label: string}} Wanted
 * @typedef {{total: number, runs: RunRow[], worlds: {[name: string]: number}, labels: {[name: string]: number}}} ArchivePage
 * @typedef {{by: string, isUp: boolean}} Order
 */

const runsAtFirst = 100;
const runsMax = 1000;
const searchMilliseconds = 200;
const dayMilliseconds = 86_400_000;
const nothingWanted = /** @type {Wanted} */ ({ search: "", world: "", state: "", since: "", until: "", cost: "", label: "" });
const costs = /** @type {{[name: string]: {usd_min?: number, usd_max?: number}}} */ ({ "Costs nothing": { usd_max: 0 }, "Up to $0.10": { usd_max: 0.1 }, "Above $0.10": { usd_min: 0.1 }, "Above $1": { usd_min: 1 } });
const states = /** @type {{[state: string]: string}} */ ({ playing: "Playing", paused: "Paused", finished: "Finished" });

/** @type {{[column: string]: (run: RunRow) => string|number}} */
const columns = {
  Name: (run) => run.title.toLowerCase(),
  When: (run) => Date.parse(run.began),
  Length: (run) => run.events,
  Cost: (run) => run.usd ?? Infinity,
  Winner: (run) => run.winner ?? "\uffff",
  State: (run) => run.state,
};

export function Archive() {
  const [tab, setTab] = useState("runs");
  const tabs = html`<div class="segments" role="group" aria-label="What to show">
    ${[["runs", "Runs"], ["leaderboard", "Leaderboard"]].map(([name, label]) => html`<button type="button" aria-pressed=${tab === name} onClick=${() => setTab(name)}>${label}</button>`)}
  </div>`;
  return tab === "runs" ? html`<${Runs} tabs=${tabs} />` : html`<${Leaderboard} tabs=${tabs} />`;
}

/** @param {{tabs: any}} props */
function Runs({ tabs }) {
  const [wanted, setWanted] = useState(nothingWanted);
  const [order, setOrder] = useState(/** @type {Order} */ ({ by: "When", isUp: false }));
  const [limit, setLimit] = useState(runsAtFirst);
  const { page, problem, again } = useArchivePage(wanted, limit);
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const sort = (/** @type {string} */ by) => {
    setOrder({ by, isUp: order.by === by ? !order.isUp : by === "Name" || by === "Winner" });
    setLimit(runsMax); // An order holds for all runs, not for the newest alone.
  };
  const runs = page ? inOrder(page.runs, order) : [];
  const isFiltered = Object.values(wanted).some(Boolean);
  const first = () => /** @type {HTMLElement|null|undefined} */ (box.current?.querySelector("tbody a"))?.focus();
  const footer = html`<span>${page ? `${runs.length === page.total ? page.total : `${runs.length} of ${page.total}`} ${page.total === 1 ? "run" : "runs"}` : ""}</span>
    <${Downloads} list="runs" query=${queryOf(wanted, runsMax)} />
    ${canImport() ? html`<${Button} label="Import a run" icon="archive" onClick=${chooseFile} />` : null}
    ${isDirector.value ? html`<${Button} label="Start a new play" icon="plus" onClick=${() => openDialog("start")} />` : null}
    <${Button} label="Close" kind="primary" onClick=${closeDialog} />`;
  return html`<${Dialog} id="archive" title="Archive" width=${1120} onSubmit=${first} footer=${footer}>
    <${Filters} wanted=${wanted} page=${page} tabs=${tabs} isFiltered=${isFiltered} onChange=${(/** @type {Partial<Wanted>} */ parts) => setWanted({ ...wanted, ...parts })} />
    ${problem ? html`<p class="start-problem" role="alert">${icon("error")}<span>${problem}</span> <${Button} label="Try again" onClick=${again} /></p>` : null}
    <div class="archive-box" ref=${box}>
      <table class="archive"><caption class="hidden">Runs of this store</caption>
        <thead><tr>${Object.keys(columns).map((name) => html`<th scope="col" aria-sort=${order.by === name ? (order.isUp ? "ascending" : "descending") : undefined}><button type="button" class="text-button" onClick=${() => sort(name)}>${name}<i aria-hidden="true">${order.by === name ? (order.isUp ? " ↑" : " ↓") : ""}</i></button></th>`)}<th scope="col">Lineage</th></tr></thead>
        <tbody onKeyDown=${walk}>${page ? runs.map((run) => html`<${Row} key=${run.id} run=${run} again=${again} />`) : [0, 1, 2, 3].map(() => html`<tr class="is-coming"><td colspan="7"><i class="skeleton"></i></td></tr>`)}</tbody>
      </table>
      ${page && !runs.length ? html`<p class="empty">${isFiltered ? html`No run matches. <button type="button" class="text-button" onClick=${() => setWanted(nothingWanted)}>Clear filters</button>` : "Nothing was played here yet."}</p>` : null}
      ${page && runs.length < Math.min(page.total, runsMax) ? html`<p class="empty"><${Button} label="Show more" onClick=${() => setLimit(runsMax)} /></p>` : null}
    </div>
  <//>`;
}

/** The runs that are wanted. The page before stays until the answer is there. @param {Wanted} wanted @param {number} limit */
function useArchivePage(wanted, limit) {
  const [page, setPage] = useState(/** @type {ArchivePage|null} */ (null));
  const [problem, setProblem] = useState("");
  const [times, setTimes] = useState(0);
  useEffect(() => {
    let isOld = false;
    const timer = setTimeout(
      () =>
        source().archive(queryOf(wanted, limit)).then(
          (/** @type {ArchivePage} */ answer) => !isOld && (setPage(answer), setProblem("")),
          (/** @type {Error} */ wrong) => !isOld && setProblem(wrong.message),
        ),
      page ? searchMilliseconds : 0,
    );
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [wanted, limit, times]);
  return { page, problem, again: () => setTimes(times + 1) };
}

/** @param {Wanted} wanted @param {number} limit */
function queryOf({ search, world, state, since, until, cost, label }, limit) {
  const day = (/** @type {string} */ text, by = 0) => (text ? new Date(new Date(`${text}T00:00`).getTime() + by).toISOString() : "");
  return { search, world, state, label, since: day(since), until: day(until, dayMilliseconds), ...costs[cost], limit };
}

/** @param {RunRow[]} runs @param {Order} order */
function inOrder(runs, { by, isUp }) {
  const value = columns[by];
  const sign = isUp ? 1 : -1;
  return [...runs].sort((a, b) => {
    const [one, other] = [value(a), value(b)];
    return one === other ? Date.parse(b.began) - Date.parse(a.began) : one < other ? -sign : sign;
  });
}

/** Arrow keys walk the rows. @param {KeyboardEvent} event */
function walk(event) {
  if (event.target instanceof HTMLInputElement) return;
  const body = /** @type {HTMLElement} */ (event.currentTarget);
  const links = /** @type {HTMLElement[]} */ ([...body.querySelectorAll("tr > td > a")]);
  const row = event.target instanceof Element ? event.target.closest("tr") : null;
  const at = links.findIndex((link) => row?.contains(link));
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  links[Math.max(0, Math.min(links.length - 1, next))]?.focus();
}

/** @param {{wanted: Wanted, page: ArchivePage|null, tabs: any, isFiltered: boolean, onChange: (parts: Partial<Wanted>) => void}} props */
function Filters({ wanted, page, tabs, isFiltered, onChange }) {
  const choice = (/** @type {keyof Wanted} */ name, /** @type {string} */ label, /** @type {[string, string][]} */ options) =>
    html`<select class="input" aria-label=${label} value=${wanted[name]} onChange=${(/** @type {any} */ event) => onChange({ [name]: event.target.value })}><option value="">${label}</option>${options.map(([value, words]) => html`<option value=${value}>${words}</option>`)}</select>`;
  const labels = Object.entries(page?.labels ?? {});
  return html`<div class="archive-filters" role="search">
    ${tabs}
    <input class="input search" type="search" data-first placeholder="Search names, seeds, labels" aria-label="Search runs" value=${wanted.search} onInput=${(/** @type {any} */ event) => onChange({ search: event.target.value })} />
    ${choice("world", "Every world", Object.entries(page?.worlds ?? {}).map(([name, count]) => [name, `${nameOf(name)} (${count})`]))}
    ${choice("state", "Every state", Object.entries(states))}
    ${choice("cost", "Any cost", Object.keys(costs).map((name) => [name, name]))}
    ${labels.length ? choice("label", "Any label", labels.map(([name, count]) => [name, `${name} (${count})`])) : null}
    <span class="dates"><input class="input" type="date" aria-label="Began on or after" value=${wanted.since} onInput=${(/** @type {any} */ event) => onChange({ since: event.target.value })} /><span>to</span><input class="input" type="date" aria-label="Began on or before" value=${wanted.until} onInput=${(/** @type {any} */ event) => onChange({ until: event.target.value })} /></span>
    ${isFiltered ? html`<button type="button" class="text-button" onClick=${() => onChange(nothingWanted)}>Clear</button>` : null}
  </div>`;
}

/** @param {{run: RunRow, again: () => void}} props */
function Row({ run, again }) {
  const go = (/** @type {Event} */ event) => {
    if (event instanceof MouseEvent && (event.ctrlKey || event.metaKey || event.button)) return;
    event.preventDefault();
    closeDialog();
    void open(run.id, { isStep: true });
  };
  const isOpen = run.id === session.value.run;
  return html`<tr class=${isOpen ? "is-open" : ""} onClick=${(/** @type {MouseEvent} */ event) => event.target instanceof Element && !event.target.closest("a, button, input") && go(event)}>
    <td><a href=${linkTo({ run: run.id, at: undefined })} onClick=${go} aria-current=${isOpen ? "true" : undefined}>${run.branch_of ? html`<span title="A branch">${icon("branch", 12)}</span>` : null}<b>${harmless(run.title)}</b></a><${Labels} run=${run} again=${again} /><span class="seed" dir="auto">${harmless(run.seed)}</span></td>
    <td title=${new Date(run.began).toLocaleString()}>${ago(run.began)}</td>
    <td class="mono">${run.events.toLocaleString("en-US")} <small>events, ${run.turns} turns</small></td>
    <td class="mono">${dollars(run.usd)}</td>
    <td>${run.winner ? harmless(nameOf(run.winner)) : html`<span class="none">none</span>`}</td>
    <td><span class=${`pill is-${run.state}`}>${run.state === "playing" ? html`<i class="dot" aria-hidden="true"></i>` : null}${stateWords(run)}</span></td>
    <td><span class="archive-lanes"><${Thumbnail} lanes=${run.lanes} />${session.value.run && !isOpen ? html`<button type="button" class="button icon-only quiet" aria-label=${`Compare ${run.title} with the run that is open`} title="Compare with the run that is open" onClick=${() => (closeDialog(), compareWith(run.id))}>${icon("compare", 14)}</button>` : null}</span></td>
  </tr>`;
}

/** @param {RunRow} run */
function stateWords({ state, reason, is_imported }) {
  if (state === "finished") return { budget: "Reached a limit", stopped: "Stopped", no_contest: "No contest" }[reason ?? ""] ?? "Finished";
  return is_imported ? "From a file" : states[state];
}

/** @param {{run: RunRow, again: () => void}} props */
function Labels({ run, again }) {
  const [text, setText] = useState(/** @type {string|null} */ (null));
  const save = async () => {
    if (text === null) return;
    const labels = [...new Set(text.split(",").map((label) => label.trim()).filter(Boolean))];
    setText(null);
    if (labels.join() === run.labels.join()) return;
    if (await post(`runs/${encodeURIComponent(run.id)}/labels`, { labels })) again();
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Enter") void save();
    else setText(null);
  };
  if (text !== null) {
    return html`<input class="input label-field" aria-label=${`Labels of ${run.title}, parted by commas`} placeholder="Labels, parted by commas" value=${text} ref=${(/** @type {HTMLElement|null} */ field) => field?.focus()}
      onInput=${(/** @type {any} */ event) => setText(event.target.value)} onKeyDown=${onKeyDown} onBlur=${save} />`;
  }
  return html`<span class="labels">${run.labels.map((label) => html`<span class="run-label" dir="auto">${harmless(label)}</span>`)}${isDirector.value ? html`<button type="button" class="text-button" aria-label=${`Label ${run.title}`} title="Labels" onClick=${() => setText(run.labels.join(", "))}>${icon("plus", 12)}</button>` : null}</span>`;
}
