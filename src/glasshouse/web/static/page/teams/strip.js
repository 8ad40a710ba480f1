// @ts-check
/** The judge's strip: the score, the verdict whole, and the lines that it rests on. */
import { html, useEffect, useRef, useState } from "page/html";
import { nameOf } from "page/apply";
import { Face } from "page/face";
import { titleOf } from "page/graph/summary";
import { icon } from "page/icons";
import { harmless } from "page/plain";
import { useScrolling } from "page/scrolling";
import { panel, record, run, seek, session, source } from "page/store";
import { Ending } from "page/stage/ending";
import { numberOf } from "page/table/lines";
import { teamName } from "page/teams/side";

/**
 * @typedef {import("page/apply").View} View
 * @typedef {{name: string, won: number}} Standing
 */

/** @param {{now: View, teams: string[], isNewest: boolean}} props isNewest: nothing was said since the verdict */
export function Strip({ now, teams, isNewest }) {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const scrolling = useScrolling(box, "The verdict");
  const verdict = now.contest.verdicts.at(-1);
  const ended = run();
  const id = Object.keys(now.creatures).find((one) => one === verdict?.by) ?? Object.keys(now.creatures).find((one) => now.creatures[one].role === "judge");
  const winner = ended?.winner ?? verdict?.winner ?? "";
  const isRuled = Boolean(verdict || (ended?.state === "finished" && (winner || !ended.axis)));
  const text = harmless(verdict?.text || ended?.why || "");
  return html`<div class=${`teams-strip${isRuled ? " is-ruled" : ""}${isNewest ? " is-newest" : ""}`} role="group" aria-label="Judge">
    <div class="teams-judge">${id ? html`<${Face} id=${now.creatures[id].handle} colour=${`var(--g${(now.graphs[now.creatures[id].graph]?.colour ?? 0) % 8})`} size=${40} />` : null}
      <div><small>${icon("judge", 13)} ${id ? "Judge" : "Referee"}</small>${id ? html`<b dir="auto">${titleOf(now.creatures[id])}</b><span dir="auto">${harmless(now.creatures[id].bio ?? "")}</span>` : html`<span>Counts by the rules of the world</span>`}</div></div>
    <${Score} now=${now} teams=${teams} />
    <div class="teams-ruling" ref=${box} tabIndex=${scrolling.tabIndex}>
      <h2 dir="auto">${isRuled ? (winner ? `${harmless(nameOf(winner, now))} ${(now.contest.teams[winner]?.length ?? 1) > 1 ? "win" : "wins"}` : "Nobody wins") : "Has not ruled yet."}</h2>
      ${isRuled && text ? html`<p dir="auto">${text}</p>` : null}
      ${ended?.axis || ended?.state === "paused" ? html`<${Ending} />` : null}</div>
    ${verdict ? html`<${Rests} now=${now} verdict=${verdict} />` : null}
  </div>`;
}

/** The score of this play, and of all plays of its world in the store. @param {{now: View, teams: string[]}} props */
function Score({ now, teams }) {
  const standings = useStandings();
  const won = teams.map((team) => standings?.find(({ name }) => name === team)?.won ?? 0);
  return html`<div class="teams-score"><small>Score</small>
    <div>${teams.slice(0, 2).map((team, at) => html`${at ? html`<i aria-hidden="true">:</i>` : null}<span class=${at ? "is-second" : ""}><em>${teamName(team)}</em><b class="mono">${now.contest.score[team] ?? 0}</b></span>`)}</div>
    ${teams.slice(2).map((team) => html`<small>${teamName(team)} <b class="mono">${now.contest.score[team] ?? 0}</b></small>`)}
    ${standings && won.some(Boolean) ? html`<small>of all plays of this world <b class="mono">${won.join(" : ")}</b></small>` : null}
  </div>`;
}

/** How often each team has won in this world; null until it is known, and where nobody can be asked. @returns {Standing[]|null} */
function useStandings() {
  const [standings, setStandings] = useState(/** @type {Standing[]|null} */ (null));
  const { run: id } = session.value;
  const state = run()?.state;
  useEffect(() => {
    let isOld = false;
    const ask = async () => {
      const [info] = await source().runs({ search: id, limit: 1 });
      const board = info?.world ? await source().leaderboard({ by: "team", world: info.world }) : null;
      if (!isOld && board) setStandings(board.standings);
    };
    // Without an answer the strip has the score of this play alone.
    ask().catch(() => {});
    return () => {
      isOld = true;
    };
  }, [id, state === "finished"]);
  return standings;
}

/** @param {{now: View, verdict: {n: number, by: string}}} props */
function Rests({ now, verdict }) {
  const line = now.creatures[verdict.by]?.line;
  const cites = line?.n === verdict.n && Array.isArray(line.fields?.cites) ? line.fields.cites : [];
  const cited = cites.map((id) => numberOf(id, verdict.n, record)).filter(Boolean);
  const deciding = cited[0] ?? (line?.n === verdict.n && line.answers ? numberOf(line.answers, verdict.n, record) : 0);
  const id = record(verdict.n)?.id;
  return html`<div class="teams-rests">
    ${deciding ? html`<button type="button" class="button" onClick=${() => seek(deciding)}>${icon("flag", 14)}<span>Show the deciding line</span><i class="mono">${deciding}</i></button>` : null}
    ${cited.length ? html`<p>Rests on ${[...cited].sort((a, b) => a - b).map((n) => html` <button type="button" class="text-button mono" aria-label=${`Go to event ${n}`} onClick=${() => seek(n)}>${n}</button>`)}</p>` : null}
    ${id ? html`<button type="button" class="text-button" onClick=${() => (panel.value = `why:${id}`)}>Why?</button>` : null}</div>`;
}
