// @ts-check
/** The rows of a contest: what each team said in a turn, scenes across all columns, and whoever is in no team between them. */
import { html, memo } from "page/html";
import { Face } from "page/face";
import { titleOf } from "page/graph/summary";
import { icon } from "page/icons";
import { panel } from "page/store";
import { Marks } from "page/teams/marks";
import { teamName } from "page/teams/side";

/**
 * @typedef {import("page/apply").View} View
 * @typedef {import("page/teams/turns").Item} Item
 * @typedef {import("page/teams/turns").Line} Line
 * @typedef {{item: Item, count: number, teams: string[], now: View, newest: number, walked: number, hasNames: boolean}} Props
 *   count: how many lines the row has, since an answer comes into a row that is drawn already; newest, walked: 0 if they are in another row;
 *   hasNames: teams have several members
 */

/** @param {Props} props */
function draw(props) {
  const { item } = props;
  if (item.is === "beat") return html`<li class="teams-beat" data-k=${item.k}>${item.title ? html`<b dir="auto">${item.title}</b> ` : null}<span dir="auto">${item.text}</span></li>`;
  if (item.is === "aside") return html`<li class=${`teams-aside is-${item.icon}`} data-k=${item.k}>${Aside(props, item)}</li>`;
  return html`<li class=${`teams-turn${props.teams.length > 2 ? " is-many" : ""}`} data-k=${item.k}>${props.teams.length > 2 ? Many(props, item) : Pair(props, item)}</li>`;
}

export const Row = memo(draw);

/** @param {Props} props @param {import("page/teams/turns").Turn} turn */
function Pair(props, turn) {
  const [left, right] = props.teams;
  return html`${Cell(props, turn, left, "left")}<span class="teams-number mono" title=${`Turn ${turn.turn}`}><i>${turn.turn}</i></span>${Cell(props, turn, right, "right")}`;
}

/** @param {Props} props @param {import("page/teams/turns").Turn} turn @param {string} team @param {string} place */
function Cell(props, turn, team, place) {
  const lines = turn.cells[team] ?? [];
  return html`<div class=${`teams-cell at-${place}`}>${lines.length ? lines.map((line) => Bubble(props, line, team)) : html`<span class="teams-dots" role="img" aria-label="No answer yet"><i></i><i></i><i></i></span>`}</div>`;
}

/** More than two teams: a column for each, or each under its team's name where there is no room for columns. @param {Props} props @param {import("page/teams/turns").Turn} turn */
function Many(props, turn) {
  return html`<span class="teams-number mono" title=${`Turn ${turn.turn}`}><i>${turn.turn}</i></span><div class="teams-cells">
    ${props.teams.map((team) => html`<div class=${`teams-cell${turn.cells[team] ? "" : " is-empty"}`} key=${team}><small class="teams-team">${teamName(team)}</small>${(turn.cells[team] ?? []).map((line) => Bubble(props, line, team))}</div>`)}</div>`;
}

/** @param {Props} props @param {Line} line @param {string} team */
function Bubble({ now, newest, walked, hasNames }, line, team) {
  const creature = now.creatures[line.creature];
  const isNewest = line.k === newest;
  return html`<button type="button" key=${line.k} class=${`teams-bubble${isNewest ? " is-newest" : ""}`} data-n=${line.k} data-team=${team} tabindex=${line.k === walked ? 0 : -1} title="Why?" onClick=${() => (panel.value = `why:${line.id}`)}>
    ${hasNames && creature ? html`<b class="teams-speaker" dir="auto"><${Face} id=${creature.handle} colour=${`var(--g${(now.graphs[creature.graph]?.colour ?? 0) % 8})`} size=${16} />${titleOf(creature)}</b>` : null}
    <span class="teams-words" dir="auto">${line.text}</span><${Marks} fields=${line.fields} /><i class="teams-n mono">${line.k}</i></button>`;
}

/** @param {Props} props @param {import("page/teams/turns").Aside} aside */
function Aside({ now, newest, walked }, { icon: name, line }) {
  const creature = now.creatures[line.creature];
  const who = creature ? titleOf(creature) : name === "visitor" ? "A visitor" : "";
  return html`<button type="button" class=${`teams-bubble is-wide${line.k === newest ? " is-newest" : ""}`} data-n=${line.k} tabindex=${line.k === walked ? 0 : -1} title="Why?" onClick=${() => (panel.value = `why:${line.id}`)}>
    <b class="teams-speaker" dir="auto">${name === "line" && creature ? html`<${Face} id=${creature.handle} colour=${`var(--g${(now.graphs[creature.graph]?.colour ?? 0) % 8})`} size=${16} />` : icon(name, 13)}${who}</b>
    <span class="teams-words" dir="auto">${line.text}</span><i class="teams-n mono">${line.k}</i></button>`;
}
