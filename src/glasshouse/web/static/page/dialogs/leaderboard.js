// @ts-check
/** Who won how often, over all finished contests of the store. */
import { html, useEffect, useState } from "page/html";
import { nameOf } from "page/apply";
import { icon } from "page/icons";
import { closeDialog, source } from "page/store";
import { Button, Dialog, dollars, short } from "page/ui";

/** @typedef {{name: string, played: number, won: number, lost: number, no_contest: number, win_rate: number, calls: number, tokens: number, usd: number|null}} Standing */

/** @param {{tabs: any}} props */
export function Leaderboard({ tabs }) {
  const [query, setQuery] = useState({ by: "creature", world: "", branches: "" });
  const [board, setBoard] = useState(/** @type {{standings: Standing[], branches_left_out: number}|null} */ (null));
  const [worlds, setWorlds] = useState(/** @type {string[]} */ ([]));
  const [problem, setProblem] = useState("");
  useEffect(() => {
    source().archive({ limit: 1 }).then((archive) => setWorlds(Object.keys(archive.worlds)), () => {});
  }, []);
  useEffect(() => {
    let isOld = false;
    source().leaderboard(query).then((answer) => !isOld && (setBoard(answer), setProblem("")), (wrong) => !isOld && setProblem(wrong.message));
    return () => {
      isOld = true;
    };
  }, [query]);
  const left = board?.branches_left_out ?? 0;
  const footer = html`<span>${left ? `${left} ${left === 1 ? "branch is" : "branches are"} left out: each would count a result again.` : ""}</span>
    <${Downloads} list="leaderboard" query=${query} /><${Button} label="Close" kind="primary" onClick=${closeDialog} />`;
  return html`<${Dialog} id="archive" title="Archive" width=${1120} footer=${footer}>
    <div class="archive-filters">${tabs}
      <div class="segments" role="group" aria-label="A line is">${[["creature", "Creatures"], ["team", "Teams"], ["model", "Models"]].map(([by, label]) => html`<button type="button" aria-pressed=${query.by === by} onClick=${() => setQuery({ ...query, by })}>${label}</button>`)}</div>
      <select class="input" aria-label="World" value=${query.world} onChange=${(/** @type {any} */ event) => setQuery({ ...query, world: event.target.value })}><option value="">Every world</option>${worlds.map((name) => html`<option value=${name}>${nameOf(name)}</option>`)}</select>
      <label class="switch"><input type="checkbox" checked=${Boolean(query.branches)} onChange=${(/** @type {any} */ event) => setQuery({ ...query, branches: event.target.checked ? "true" : "" })} /><span>Count branches, too</span></label>
    </div>
    ${problem ? html`<p class="start-problem" role="alert">${icon("error")}<span>${problem}</span></p>` : null}
    <div class="archive-box"><table class="archive"><caption class="hidden">Who won how often</caption>
      <thead><tr><th scope="col">Name</th><th scope="col">Won</th><th scope="col">Lost</th><th scope="col">No contest</th><th scope="col">Wins of games</th><th scope="col">Calls</th><th scope="col">Tokens</th><th scope="col">Cost</th></tr></thead>
      <tbody>${(board?.standings ?? []).map((line, at) => html`<tr key=${line.name}><td><span class="mono rank">${at + 1}</span><b>${query.by === "model" ? line.name : nameOf(line.name)}</b></td><td class="mono">${line.won}</td><td class="mono">${line.lost}</td><td class="mono">${line.no_contest}</td>
        <td class="rate"><span class="meter-bar" aria-hidden="true"><span style=${{ width: `${Math.round(line.win_rate * 100)}%` }}></span></span><span class="mono">${Math.round(line.win_rate * 100)} %</span></td><td class="mono">${short(line.calls)}</td><td class="mono">${short(line.tokens)}</td><td class="mono">${dollars(line.usd)}</td></tr>`)}</tbody></table>
      ${board && !board.standings.length ? html`<p class="empty">No contest has been decided here yet.</p>` : null}</div>
  <//>`;
}

/** A list as files to keep. @param {{list: "runs"|"leaderboard", query: {[name: string]: any}}} props */
export function Downloads({ list, query }) {
  return html`${["json", "csv"].map((format) => html`<a class="button" download=${`${list}.${format}`} href=${source().listAddress(list, { ...query, format })}>${icon("download")}<span>${format.toUpperCase()}</span></a>`)}`;
}
