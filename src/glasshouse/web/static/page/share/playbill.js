// @ts-check
/** The playbill: what was performed, by whom, how it ended, and how anybody performs it again. */
import { html } from "page/html";
import { graphColour } from "page/colours";
import { Face } from "page/face";
import { icon } from "page/icons";
import { Button, dollars, short } from "page/ui";
import { nameOf } from "page/apply";
import { harmless } from "page/plain";
import { copy } from "page/copying";
import { current, goTo } from "page/share/navigation";

/** @typedef {import("page/share/navigation").Shared} Shared */

const playersShownMax = 12;
const quoteCharsMax = 220;
const championsMax = 3;
const headingCharsMax = 64;
const numbers = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/** A small number as a word. @param {number} count */
export const inWords = (count) => numbers[count] ?? String(count);

/** The last event that the file has. @param {Shared["packed"]} packed */
const lastOf = (packed) => packed.records[packed.records.length - 1].k;
/** @param {Shared["packed"]} packed */
const isPart = (packed) => packed.first > 1 || lastOf(packed) < packed.events;

export function Playbill() {
  const { packed, story } = /** @type {Shared} */ (current.value);
  const title = harmless(packed.run.title);
  const goal = harmless(packed.run.goal ?? "");
  const titles = new Set(story.scenes.map((scene) => scene.title)); // A first scene may have none.
  const scenes = titles.size;
  return html`<section class="panel playbill" aria-label="Playbill">
    <div class="playbill-words">
      <p class="kicker">${isPart(packed) ? "A part of a performance" : packed.run.state === "finished" ? "Performed once" : "Recorded while it played"}${scenes > 1 && !isPart(packed) ? `, in ${inWords(scenes)} scenes` : ""}</p>
      <h1 dir="auto">${title || "A run"}</h1>
      ${goal ? html`<p class="playbill-synopsis" dir="auto">${goal}</p>` : null}
      <${Cast} />
      <${Ribbon} />
    </div>
    <${Facts} />
    ${packed.command ? html`<${Command} command=${packed.command} />` : null}
  </section>`;
}

function Cast() {
  const { story } = /** @type {Shared} */ (current.value);
  const shown = story.players.slice(0, playersShownMax);
  const visits = story.lines.filter((line) => line.kind === "visitor");
  const more = story.players.length - shown.length;
  return html`<ul class="cast-list" aria-label="Cast">
    ${shown.map((player) => html`<li>
      <${Face} id=${player.handle} colour=${graphColour(player.colour)} size=${46} hasCrown=${player.isPrivileged} isJudge=${player.role === "judge"} />
      <span><b>${player.title || nameOf(player.handle)}</b><small>${player.bio || (player.role === "judge" ? "judge" : player.lines ? counted(player.lines, "line") : "has not spoken")}</small></span>
    </li>`)}
    ${visits.length ? html`<li class="visitor-entry"><i class="visitor-ring" aria-hidden="true">${icon("bolt", 18)}</i>
      <span><b>A visitor</b><small>disturbed it ${visits.length === 1 ? "once" : `${inWords(visits.length)} times`}: ${cut(visits[0].text, 60)}</small></span></li>` : null}
    ${more > 0 ? html`<li class="more-players">and ${more} more</li>` : null}
  </ul>`;
}

function Ribbon() {
  const { packed, story } = /** @type {Shared} */ (current.value);
  const { winner } = packed.run;
  const why = harmless(packed.run.why ?? "");
  const last = story.lines.findLast((line) => line.face && line.kind !== "thought");
  const at = packed.decided_at ?? last?.k ?? 0;
  const isHere = at >= packed.first && at <= lastOf(packed);
  const team = winner ? (story.head.contest.teams[winner] ?? [winner]) : [];
  const champions = story.players.filter((player) => team.includes(player.handle));
  const name = !winner ? "" : champions.length === 1 && champions[0].handle === winner ? champions[0].title || nameOf(winner) : nameOf(winner);
  const sentence = winner && why.startsWith(name) ? sentenceOf(why) : "";
  const heading = sentence || endingOf(packed.run);
  const rest = sentence ? why.slice(sentence.length + 1).trim() : why;
  const quote = rest || (packed.decided_at ? "" : last?.text);
  return html`<div class=${`ribbon${winner ? "" : " has-no-winner"}`}>
    ${champions.length ? champions.slice(0, championsMax).map((player) => html`<${Face} id=${player.handle} colour=${graphColour(player.colour)} size=${54} />`) : html`<i class="ribbon-icon" aria-hidden="true">${icon("flag", 20)}</i>`}
    <div><h2 dir="auto">${heading}</h2>${quote && quote !== heading ? html`<p dir="auto">${rest ? null : html`${last?.name}: `}“${cut(quote, quoteCharsMax)}”</p>` : null}</div>
    ${isHere ? html`<${Button} label=${html`Line <span class="mono">${at}</span>`} icon="flag" onClick=${() => void goTo(at)} />` : null}
  </div>`;
}

/** The first sentence of a text, or nothing if it is too long for a heading. @param {string} text */
function sentenceOf(text) {
  const sentence = text.split(/[.!?](?:\s|$)/, 1)[0];
  return sentence.length <= headingCharsMax ? sentence : "";
}

/** How a run ended, or how it stood here. @param {import("page/apply").Run} run */
function endingOf({ state, ending }) {
  if (ending) return harmless(ending.text).replace(/\.$/, "");
  return state === "paused" ? "It was paused here" : "It was still playing";
}

function Facts() {
  const { packed, story } = /** @type {Shared} */ (current.value);
  const { seed, rng_seed: rngSeed, spent, limits } = packed.run;
  const last = lastOf(packed);
  const facts = /** @type {[string, any, string?][]} */ ([
    ["Seed", harmless(seed) || "none", "serif"],
    ["Random seed", rngSeed],
    ["Played", when(packed.began)],
    ["Duration", duration(Date.parse(packed.ended) - Date.parse(packed.began))],
    ["Turns", limits?.max_turns ? `${spent.turns} of ${limits.max_turns}` : spent.turns],
    ["Events", isPart(packed) ? `${packed.first} to ${last} of ${packed.events}` : packed.events],
    ["Calls", spent.calls],
    ["Tokens", short(spent.tokens)],
    ["Cost", dollars(spent.usd)],
    ["Models", packed.models.join(", ") || "offline troupe"],
  ]);
  const tried = packed.branches.length;
  return html`<div class="facts">
    <h2 class="panel-title">Playbill</h2>
    <dl>${facts.map(([name, value, font]) => html`<div><dt>${name}</dt><dd class=${font ?? "mono"}>${value}</dd></div>`)}</dl>
    ${packed.digest ? html`<p class="verified">${icon("check")}<span>Replays to the same digest<br /><code title=${packed.digest}>${spaced(packed.digest)} …</code></span></p>` : null}
    ${tried ? html`<p class="tried">${capital(inWords(tried))} other ${tried === 1 ? "course was" : "courses were"} tried from here, see the lanes below.</p>` : null}
    ${story.hasMinds ? html`<p class="tried">With everybody’s thoughts.</p>` : null}
  </div>`;
}

/** @param {{command: string}} props */
function Command({ command }) {
  return html`<div class="command">
    <span id="command-words">Perform it yourself</span>
    <code aria-labelledby="command-words" tabindex="0"><i aria-hidden="true">$ </i>${command}</code>
    <${Button} label="Copy" icon="copy" onClick=${() => void copy(command, "The command is copied.")} />
  </div>`;
}

/** @param {string} digest */
const spaced = (digest) => digest.slice(0, 16).replace(/(.{4})(?=.)/g, "$1 ");
/** @param {string} text @param {number} most */
export const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1).replace(/\s+\S*$/, "")}…` : text);
/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
/** @param {number} count @param {string} noun */
const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** @param {string} moment */
function when(moment) {
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return "unknown";
  const isThisYear = date.getFullYear() === new Date().getFullYear();
  const day = date.toLocaleDateString("en-GB", { day: "numeric", month: "long", ...(isThisYear ? {} : { year: "numeric" }) });
  return `${day}, ${date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}`;
}

/** @param {number} milliseconds */
function duration(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 1) return "under 1 s";
  const parts = [[Math.floor(seconds / 3600), "h"], [Math.floor(seconds / 60) % 60, "min"], [seconds % 60, "s"]];
  return parts.filter(([count]) => count).slice(0, 2).map(([count, unit]) => `${count} ${unit}`).join(" ");
}
