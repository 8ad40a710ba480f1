// @ts-check
/** A team at its side: who plays for it, what it has said and spent so far, and what it keeps sealed. */
import { html, useState } from "page/html";
import { Face } from "page/face";
import { titleOf } from "page/graph/summary";
import { icon } from "page/icons";
import { harmless } from "page/plain";
import { minds, selection, session } from "page/store";
import { dollars, short } from "page/ui";
import { Answer } from "page/teams/marks";

/**
 * @typedef {import("page/apply").View} View
 * @typedef {import("page/teams/turns").Tally} Tally
 * @typedef {typeof import("page/teams/turns").wordOf} WordOf
 */

/** A team of more members shows the first ones. */
const membersMax = 6;

/** The creatures of a team. @param {View} view @param {string} team @returns {string[]} */
export function membersOf({ creatures, contest }, team) {
  const handles = new Set(contest.teams[team] ?? []);
  return Object.keys(creatures).filter((id) => handles.has(creatures[id].handle));
}

/** A team's name as it is shown. @param {string} team */
export const teamName = (team) => harmless(team.replace(/[-_]+/g, " "));

/** @param {{now: View, team: string, tally: Tally, since: number, word: ReturnType<WordOf>, place: string, newest: string}} props since: of which event on it is counted; 1: all */
export function Side({ now, team, tally, word, since, place, newest }) {
  const members = membersOf(now, team);
  const [first] = members;
  const isAlone = members.length === 1;
  return html`<section class=${`teams-side at-${place}`} aria-label=${`Team ${teamName(team)}`}>
    <div class="teams-portraits">${members.slice(0, membersMax).map((id) => html`<${Portrait} key=${id} now=${now} id=${id} isAlone=${isAlone} isSpeaking=${id === newest} />`)}</div>
    <div class="teams-who"><small>Team ${teamName(team)}</small>
      <h2 dir="auto">${isAlone ? titleOf(now.creatures[first]) : namesOf(now, members)}</h2>
      ${isAlone && now.creatures[first].bio ? html`<p dir="auto">${harmless(now.creatures[first].bio ?? "")}</p>` : null}</div>
    <${Tallied} tally=${tally} since=${since} />
    <div class="teams-chips">${isAlone ? Chips(now.creatures[first]) : null}</div>
    ${minds.value ? members.map((id) => html`<${Thought} key=${id} now=${now} id=${id} hasName=${!isAlone} />`) : null}
    ${word ? html`<div class="teams-word"><b dir="auto">${word.value}</b><span>${word.name}${word.answer ? html` <${Answer} answer=${word.answer} />` : null}</span><small>Named in turn ${word.turn}${word.count === 1 ? ", the only time" : ""}.</small></div>` : null}
    ${sealedOf(now, members).map(([key, card]) => html`<${Sealed} key=${`${session.value.run} ${key}`} name=${key} text=${card.text} isRevealed=${now.role === "spectator"} />`)}
  </section>`;
}

/** @param {View} now @param {string[]} members */
const namesOf = (now, members) => members.map((id) => titleOf(now.creatures[id])).join(", ") || "Nobody";

/** @param {{now: View, id: string, isAlone: boolean, isSpeaking: boolean}} props */
function Portrait({ now, id, isAlone, isSpeaking }) {
  const creature = now.creatures[id];
  const isChosen = selection.value?.id === id;
  return html`<button type="button" class="teams-portrait" aria-label=${titleOf(creature)} aria-pressed=${isChosen} onClick=${() => (selection.value = isChosen ? null : { kind: "creature", id })}>
    <${Face} id=${creature.handle} colour=${`var(--g${(now.graphs[creature.graph]?.colour ?? 0) % 8})`} size=${isAlone ? 88 : 40} isOpen=${isSpeaking} hasCrown=${creature.is_privileged} isDim=${!creature.is_running} /></button>`;
}

/** @param {{tally: Tally, since: number}} props */
function Tallied({ tally, since }) {
  const { lines, words, tokens, usd, yes, no, unsure } = tally;
  const rows = [["Lines", String(lines)], ["Words", short(words)], ...(yes + no + unsure ? [["Yes, no, unsure", `${yes} ${no} ${unsure}`]] : []), ["Tokens", short(tokens)], ["Spend", dollars(usd)]];
  return html`<dl class="teams-tally" title=${since > 1 ? `Counted from event ${since} on` : undefined}>${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd class="mono">${value}</dd></div>`)}</dl>`;
}

/** @param {import("page/apply").Creature} creature */
function Chips({ model, profile, mood }) {
  const name = model ?? profile;
  return html`${name ? html`<span class="teams-chip mono">${harmless(name)}</span>` : null}${mood ? html`<span class="teams-chip" dir="auto">${harmless(mood)}</span>` : null}`;
}

/** @param {{now: View, id: string, hasName: boolean}} props */
function Thought({ now, id, hasName }) {
  const { thought } = now.creatures[id];
  if (!thought) return null;
  return html`<p class="teams-thought" dir="auto">${hasName ? html`<b>${titleOf(now.creatures[id])}</b> ` : null}${harmless(thought)}</p>`;
}

/** What was dealt to members of a team. @param {View} now @param {string[]} members @returns {[string, {owner: string, text?: string}][]} */
function sealedOf({ contest, creatures }, members) {
  const owners = new Set(members.flatMap((id) => [id, creatures[id].handle]));
  return Object.entries(contest.sealed ?? {}).filter(([, { owner }]) => owners.has(owner));
}

/** A sealed card. Its words are here only where the role may read them; to everybody they are open once the ledger has shown them. @param {{name: string, text?: string, isRevealed: boolean}} props */
function Sealed({ name, text, isRevealed }) {
  const [isOpen, setOpen] = useState(false);
  const words = text !== undefined && (isRevealed || isOpen) ? text : undefined;
  return html`<div class=${`teams-sealed${words === undefined ? "" : " is-open"}`}>
    ${words === undefined ? html`<i class="teams-wax" aria-hidden="true">${icon("approval", 16)}</i><span dir="auto">${harmless(name)}, sealed</span>` : html`<b dir="auto">${harmless(words)}</b><span dir="auto">${harmless(name)}</span>`}
    ${text !== undefined && !isRevealed ? html`<button type="button" class="button small" onClick=${() => setOpen(!isOpen)}>${isOpen ? "Seal" : "Open"}</button>` : null}
  </div>`;
}
