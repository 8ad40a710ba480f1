// @ts-check
/** What the palette finds: what can be done and set, who and what there is on the page, and what only the server knows. */
import { flipTheme, theme } from "page/colours";
import { areLettersOn, offered, turnLetters } from "page/keys";
import { nameOf } from "page/apply";
import { harmless } from "page/plain";
import { ago } from "page/ui";
import { head, isDirector, loadedFrom, open, openDialog, record, seek, selection, session, source, view } from "page/store";
import { openStudio } from "page/studio/open";

/** @typedef {import("page/palette/rank").Entry} Entry */

const linesLookedAtMax = 3000;
const linesFoundMax = 10;
const runsAskedFor = 20;
const searchCharsMin = 2;
const excerptFrom = 36;
const excerptBefore = 14;
const said = new Set(["line", "judge", "visitor", "world"]);

/** What can be done now. @returns {Entry[]} */
export const commandEntries = () => offered().filter(({ id }) => !settingIds.has(id) && id !== "palette").map(({ id, label, group, key, run }) => ({ id: `do ${id}`, kind: "command", name: label, hint: group, key, run }));

const settingIds = new Set(["theme", "settings"]);

/** What can be set. @returns {Entry[]} */
export const settingEntries = () => [
  { id: "set theme", kind: "setting", name: `Theme: ${theme.value === "dark" ? "light" : "dark"}`, words: "dark light colours appearance mode", hint: `now ${theme.value}`, key: "D", run: flipTheme },
  { id: "set letters", kind: "setting", name: `Single letters as keys: ${areLettersOn.value ? "off" : "on"}`, words: "keyboard shortcuts", hint: `now ${areLettersOn.value ? "on" : "off"}`, run: () => turnLetters(!areLettersOn.value) },
  { id: "set all", kind: "setting", name: "Settings", words: "preferences options", hint: "all of them", run: () => openDialog("settings") },
];

/** Who is on the page. @returns {Entry[]} */
export function creatureEntries() {
  const now = view();
  return Object.entries(now?.creatures ?? {}).map(([id, creature]) => ({
    id: `creature ${id}`,
    kind: "creature",
    name: harmless(nameOf(creature.handle, now)),
    words: harmless(`${creature.handle} ${creature.role} ${creature.bio ?? ""} ${creature.team ?? ""}`),
    hint: creature.role === "worker" ? "creature" : creature.role,
    run: () => void (selection.value = { kind: "creature", id }),
  }));
}

/** What was said, the newest first, as far as it is on the page. @param {string} typed @returns {Entry[]} */
export function lineEntries(typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (typed.trim().length < searchCharsMin) return [];
  /** @type {Entry[]} */
  const found = [];
  const last = Math.max(1, head.value - linesLookedAtMax);
  for (let k = head.value; k >= last && found.length < linesFoundMax; k -= 1) {
    const entry = record(k);
    if (!entry || !said.has(entry.row.icon)) continue;
    const text = `${entry.row.actor} ${entry.row.text ?? ""}`.toLowerCase();
    if (words.every((word) => text.includes(word))) found.push(lineEntry(k, entry.row.actor, entry.row.text ?? "", words));
  }
  return found;
}

/** A line from a little before the first word that was looked for. @param {string} text @param {string[]} words */
function excerpt(text, words) {
  const at = Math.max(0, Math.min(...words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0), text.length));
  const from = at < excerptFrom || at === text.length ? 0 : text.lastIndexOf(" ", at - excerptBefore) + 1;
  return from > 0 ? `… ${text.slice(from)}` : text;
}

/** @param {number} k @param {string} actor @param {string} text @param {string[]} words @returns {Entry} */
const lineEntry = (k, actor, text, words) => ({ id: `line ${k}`, kind: "line", name: harmless(excerpt(text, words)), words: harmless(`${nameOf(actor, view())} ${text}`), hint: `${harmless(nameOf(actor, view()))}, ${k}`, run: () => void seek(k) });

/** Lines that the page has not loaded, from the server. @param {string} typed @returns {Promise<Entry[]>} */
export async function olderLines(typed) {
  const isWhole = loadedFrom.value <= 1 && head.value <= linesLookedAtMax;
  if (isWhole || !session.value.run || typed.trim().length < searchCharsMin || source().kind === "file") return [];
  const before = Math.max(loadedFrom.value, head.value - linesLookedAtMax);
  const { events } = await source().events(session.value.run, { show: "speech", text: typed.trim(), order: "newest", before, limit: linesFoundMax });
  return events.map((/** @type {any} */ match) => lineEntry(match.k, match.event.actor, match.event.payload.text ?? "", typed.trim().toLowerCase().split(/\s+/)));
}

/** The worlds that a director may start. @returns {Promise<Entry[]>} */
export async function worldEntries() {
  if (!isDirector.value || session.value.isGuest || source().kind === "file") return [];
  const worlds = await source().worlds();
  const studio = worlds.map((/** @type {any} */ world) => ({ id: `studio ${world.name}`, kind: "world", name: `Studio: ${world.title}`, words: `${world.name} edit text yaml studio rehearse world`, hint: "edit its texts", run: () => openStudio(world.name) }));
  const plays = worlds.filter((/** @type {any} */ world) => !world.problem).map((/** @type {any} */ world) => ({ id: `world ${world.name}`, kind: "world", name: world.title, words: `${world.name} ${world.synopsis} ${world.shows} ${world.kind} start play world`, hint: "start this world", run: () => openDialog("start", { world: world.name }) }));
  return [...plays, ...studio];
}

/** Runs of the server: the newest, or those that a text names. @param {string} typed @returns {Promise<Entry[]>} */
export async function runEntries(typed) {
  if (source().kind === "file") return [];
  const runs = await source().runs({ search: typed.trim().length < searchCharsMin ? "" : typed.trim(), limit: runsAskedFor });
  return runs
    .filter((/** @type {any} */ run) => run.id !== session.value.run)
    .map((/** @type {any} */ run) => ({ id: `run ${run.id}`, kind: "run", name: harmless(run.title || run.world || run.id), words: harmless(`${run.id} ${run.world} ${run.seed} ${run.labels.join(" ")} ${run.winner ?? ""} run`), hint: `run, ${ago(run.began)}${run.is_edited ? ", edited" : ""}`, run: () => void open(run.id, { isStep: true }) }));
}
