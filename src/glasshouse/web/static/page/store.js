// @ts-check
/**
 * The state of the page: which run, which moment, and everything that is selected or open.
 *
 * Always holds: a view on the page is the server's view plus records, never anything that the page made up. While it is
 * live the view shown is the newest; rewound, it is another view, and what happens meanwhile is taken in behind it. To
 * rewind asks no model, and nothing at all once the page of records is here.
 */
import { batch, computed, signal } from "@preact/signals";
import { apply, cloneView, graphOf } from "page/apply";
import { address, isStill, setAddress } from "page/address";
import { recordsPerPage, Refusal, serverSource } from "page/source";
import { announce, toast } from "page/toast";
import { emptyTimeline, noted } from "page/timeline";

/**
 * @typedef {import("page/apply").View} View
 * @typedef {import("page/apply").Record} Record
 * @typedef {{records: Record[], count: number, start: View|null, keyframes: Map<number, View>}} Page
 *   a thousand records, the view before them, and views in between
 */

const panelMilliseconds = 100;
const addressMilliseconds = 300;
const eventsBetweenKeyframes = 100;
const pagesKeptMax = 60;
const pagesAtStart = 2;
const pagesWhenIdle = 20;

/** Icons of events that change the shape of the world: the page shows them at once. */
const topologyIcons = new Set(["merge", "split", "creature", "channel", "wire", "session", "run"]);

export const session = signal({ run: "", role: "spectator", isGuest: false, holder: "" });
export const head = signal(0);
export const shown = signal(0);
export const isRewound = signal(false);
export const moment = signal(0);
export const loadedFrom = signal(1);
export const connection = signal(/** @type {"opening"|"open"|"lost"} */ ("opening"));
/** How far the server has folded a long story that no page has shown yet. */
export const folded = signal(/** @type {{k: number, of: number}|null} */ (null));
export const trouble = signal(/** @type {{status: number, message: string}|null} */ (null));
export const thinking = signal(/** @type {{[creature: string]: any}} */ ({}));
/** What the run does on the server; `reading` is the line that the next act waits for. */
export const driver = signal(/** @type {{state: string, speed?: string, reading?: {event_id: string, seconds: number, seconds_left: number, lines_after: number}}|null} */ (null));
export const timeline = signal(emptyTimeline());
/** Goes up whenever the sessions of the story, or the names of their graphs, are others. */
export const lanesVersion = signal(0);
export const selection = signal(/** @type {{kind: "creature"|"channel"|"graph"|"event", id: string}|null} */ (null));
export const filters = signal(filtersIn(address()));
export const minds = signal(false);
export const flipped = signal(/** @type {Set<string>} */ (new Set()));
export const panel = signal("");
/** Whether the server has no run to show. */
export const isEmpty = signal(false);
export const dialog = signal(/** @type {{name: string, args?: any}|null} */ (null));
/** Whether a rewound page plays on by itself, without the server. */
export const isReplaying = signal(false);
export const replaySpeed = signal(1);

export const isDirector = computed(() => session.value.role === "director");
export const isLive = computed(() => !isRewound.value);
/** Whether the run came in a file: it is read here, and nobody can play it as it is. */
export const isImported = computed(() => driver.value?.state === "recorded");
/** Whether nothing more comes of the run: it has finished, or it came in a file. */
export const isRecorded = computed(() => (moment.value, isImported.value || headView()?.runs[session.value.run]?.state === "finished"));
/** Whether whoever looks on can say something into the run: a director, as long as it goes on and somebody is there to hear it. */
export const canDisturb = computed(() => {
  moment.value; // The newest view is no signal.
  return isDirector.value && !isRecorded.value && Object.values(headView()?.creatures ?? {}).some((creature) => creature.run === session.value.run);
});
/** @type {import("@preact/signals").ReadonlySignal<"idle"|"loading"|"error"|"reconnecting"|"rewound"|"finished"|"recorded"|"paused"|"pausing"|"live">} */
export const status = computed(() => {
  moment.value;
  if (trouble.value) return "error";
  if (!session.value.run) return "idle";
  if (connection.value !== "lost" && !head.value) return "loading";
  if (connection.value === "lost") return "reconnecting";
  if (isRewound.value) return "rewound";
  const state = run()?.state ?? "playing";
  if (isImported.value && state !== "finished") return "recorded";
  if (state !== "playing") return state === "finished" ? "finished" : "paused";
  if (driver.value?.state === "pausing") return "pausing";
  return driver.value?.state === "idle" ? "paused" : "live";
});

let reading = serverSource("./api/v1");
/** @type {View|null} */
let newest = null;
/** @type {View|null} */
let past = null;
/** @type {Map<number, Page>} */
let pages = new Map();
/** @type {Map<number, Promise<Page>>} */
const pagesOnTheirWay = new Map();
/** @type {(() => void)|null} */
let endStream = null;
let seeks = 0;
/** Goes up when events are counted anew: what was asked for before then is of no use. */
let story = 0;
/** @type {Promise<unknown>|null} */
let loadingForSeek = null;
/** @type {ReturnType<typeof setTimeout>|undefined} */
let panelTimer;
/** @type {ReturnType<typeof setTimeout>|undefined} */
let replayTimer;
/** @type {ReturnType<typeof setTimeout>|undefined} */
let addressTimer;
/** @type {Set<(record: Record, view: View) => void>} */
const recordListeners = new Set();

/** Where the page reads from. */
export const source = () => reading;
/** Read from elsewhere: a shared file. @param {import("page/source").Source} other */
export const readFrom = (other) => {
  reading = other;
};
/** The view at the moment shown. @returns {View|null} */
export const view = () => (isRewound.value ? past : newest);
/** The newest view. */
export const headView = () => newest;
/** Whether the view shown has thoughts: the server sends none to a spectator. */
export const canReadMinds = () => (view()?.role ?? "spectator") !== "spectator";
/** The run that the page shows. */
export const run = () => view()?.runs[session.value.run];

/** Be told of each record as it happens; returns what ends that. @param {(record: Record, view: View) => void} listener */
export function onRecord(listener) {
  recordListeners.add(listener);
  return () => recordListeners.delete(listener);
}

/** The record of event number `k`, if it is loaded. @param {number} k @returns {Record|undefined} */
export function record(k) {
  return pages.get(pageOf(k))?.records[(k - 1) % recordsPerPage];
}

/** The view before the first record of a page, if that page is here. @param {number} number @returns {View|null} */
export const startOf = (number) => pages.get(number)?.start ?? null;

/** @param {number} k */
const pageOf = (k) => Math.floor((k - 1) / recordsPerPage);

/**
 * Open a run, at an event or live.
 * @param {string} run
 * @param {{at?: string, panel?: string, isStep?: boolean}} [how]
 */
export async function open(run, how = {}) {
  endStream?.();
  forget();
  session.value = { ...session.value, run };
  trouble.value = null;
  connection.value = "opening";
  panel.value = how.panel ?? "";
  setAddress({ run, at: how.at, panel: panel.value }, { isStep: how.isStep });
  if (!run) return;
  /** @type {(value?: unknown) => void} */
  let isThere = () => {};
  const first = new Promise((resolve) => (isThere = resolve));
  follow(run, isThere);
  await first;
  if (how.at && session.value.run === run) await seekEvent(how.at);
}

/** Follow the story of a run from its newest event on. @param {string} run @param {() => void} [isThere] */
function follow(run, isThere = () => {}) {
  endStream?.();
  endStream = reading.stream(run, {
    onView: (view) => {
      takeView(view);
      isThere();
    },
    onRecord: takeRecord,
    onSignal: takeSignal,
    onProgress: (told) => (folded.value = told),
    onConnection: (isOpen, isRefused) => {
      connection.value = isOpen ? "open" : "lost";
      if (!isOpen && (isRefused || !newest)) void explainWhyNot(run);
    },
  });
}

/** A stream tells no reason: ask for the view, which does. @param {string} run */
async function explainWhyNot(run) {
  try {
    await reading.view(run);
  } catch (wrong) {
    const { status, message } = wrong instanceof Refusal ? wrong : { status: 0, message: String(wrong) };
    const isGone = [401, 403, 404].includes(status);
    if (session.value.run === run && (isGone || (status && !newest))) trouble.value = { status, message };
  }
}

function forget() {
  stopReplay();
  clearTimeout(addressTimer);
  clearTimeout(panelTimer);
  panelTimer = undefined;
  countAnew();
  newest = past = null;
  batch(() => {
    head.value = shown.value = 0;
    isRewound.value = false;
    loadedFrom.value = 1;
    thinking.value = {};
    driver.value = null;
    selection.value = null;
    flipped.value = new Set();
    panel.value = "";
    timeline.value = emptyTimeline();
    moment.value += 1;
  });
}

/** Forget every record: another story is shown, or its events have other numbers now. */
function countAnew() {
  story += 1;
  seeks += 1;
  pages = new Map();
  pagesOnTheirWay.clear();
  loadingForSeek = null;
}

/** Runs that share a graph are one story. @param {View} view */
const runsIn = (view) => Object.keys(view.runs).sort().join(" ");

/** The whole view: at the start, and when something was missed. @param {View} view */
function takeView(view) {
  const isAnother = newest !== null && runsIn(newest) !== runsIn(view);
  const eventShown = isAnother && isRewound.value ? past?.event_id : undefined;
  if (isAnother) {
    countAnew();
    stopReplay();
    past = null;
    isRewound.value = false;
    announce("Two runs share a graph now.");
  }
  newest = cloneView(view);
  batch(() => {
    folded.value = null;
    connection.value = "open";
    head.value = view.k;
    if (!isRewound.value) shown.value = view.k;
    lanesVersion.value += 1;
    noteLoaded();
  });
  void loadNewest();
  if (eventShown) void seekEvent(eventShown);
}

async function loadNewest() {
  const { run } = session.value;
  const mine = story;
  const last = pageOf(head.value);
  try {
    await Promise.all([reading.timeline(run).then((loaded) => story === mine && takeTimeline(loaded)), loadPage(last)]);
    if (story !== mine) return;
    for (let page = last; page >= 0 && page > last - pagesAtStart; page -= 1) await loadPage(page);
  } catch (wrong) {
    if (story === mine) toast(messageOf(wrong), { kind: "error" });
    return;
  }
  whenIdle(() => loadOlder(mine, last - pagesAtStart, pagesWhenIdle));
}

/** Events that came while the timeline was on its way are added to it. @param {import("page/timeline").Timeline} loaded */
function takeTimeline(loaded) {
  let now = { ...emptyTimeline(), ...loaded };
  for (let k = now.events + 1; newest && k <= head.value; k += 1) {
    const missed = record(k);
    if (missed) now = noted(now, missed, graphOf(newest, missed));
  }
  timeline.value = now;
}

/** @param {number} mine @param {number} page @param {number} left */
async function loadOlder(mine, page, left) {
  if (story !== mine || page < 0 || left === 0) return;
  await loadPage(page).catch(() => {});
  whenIdle(() => loadOlder(mine, page - 1, left - 1));
}

/** @param {() => void} work */
function whenIdle(work) {
  if ("requestIdleCallback" in globalThis) requestIdleCallback(work, { timeout: 2000 });
  else setTimeout(work, 200);
}

/** @param {unknown} wrong */
const messageOf = (wrong) => (wrong instanceof Error ? wrong.message : String(wrong));

/** The records of a page. The last page grows with the stream. @param {number} number @returns {Promise<Page>} */
export function loadPage(number) {
  const there = pages.get(number);
  if (there && isLoaded(there, number)) return Promise.resolve(there);
  let waiting = pagesOnTheirWay.get(number);
  if (!waiting) {
    waiting = fetchPage(number).finally(() => pagesOnTheirWay.get(number) === waiting && pagesOnTheirWay.delete(number));
    pagesOnTheirWay.set(number, waiting);
  }
  return waiting;
}

/** Whether everything of a page that there is by now is here. @param {Page} page @param {number} number */
const isLoaded = (page, number) => page.start !== null && page.count >= Math.min(recordsPerPage, head.value - number * recordsPerPage);

/** @param {number} number @returns {Promise<Page>} */
async function fetchPage(number) {
  const { run } = session.value;
  const mine = story;
  // The view before it comes along: what is loaded can be rewound without the server.
  const [some, start] = await Promise.all([
    reading.records(run, number, { role: session.value.role, story: newest ? runsIn(newest) : "" }),
    reading.view(run, number * recordsPerPage),
  ]);
  if (story !== mine) throw new Error("The events are counted anew by now.");
  const page = pageFor(number);
  page.start ??= start;
  for (const record of some) put(page, record);
  noteLoaded();
  return page;
}

/** @param {Page} page @param {Record} record */
function put(page, record) {
  const at = (record.k - 1) % recordsPerPage;
  if (!page.records[at]) page.count += 1;
  page.records[at] = record;
}

/** @param {number} number */
function pageFor(number) {
  let page = pages.get(number);
  if (!page) {
    page = { records: [], count: 0, start: null, keyframes: new Map() };
    pages.set(number, page);
    if (pages.size > pagesKeptMax) dropFarthest(number);
  }
  return page;
}

/** @param {number} near */
function dropFarthest(near) {
  const last = pageOf(head.value);
  const others = [...pages.keys()].filter((number) => number !== near && number !== last);
  others.sort((a, b) => Math.abs(b - near) - Math.abs(a - near));
  pages.delete(others[0]);
}

/** Note from which event on everything up to the newest is here, and have it shown. */
function noteLoaded() {
  let number = pageOf(head.value) + 1;
  for (let before = pages.get(number - 1); before && isLoaded(before, number - 1); before = pages.get(number - 1)) number -= 1;
  batch(() => {
    loadedFrom.value = Math.min(number * recordsPerPage, head.value) + 1;
    moment.value += 1;
  });
}

/** @param {Record} record */
function takeRecord(record) {
  if (!newest || record.k <= newest.k) return; // It came with the view already.
  if (record.k !== newest.k + 1) return follow(session.value.run); // One is missing: take the whole view again.
  const page = pageFor(pageOf(record.k));
  if (newest.k % recordsPerPage === 0) page.start = cloneView(newest);
  apply(newest, record);
  put(page, record);
  const actor = Object.keys(thinking.value).find((id) => newest?.creatures[id]?.handle === record.row.actor);
  batch(() => {
    timeline.value = noted(timeline.value, record, graphOf(/** @type {View} */ (newest), record));
    if (record.d.some(([, path]) => path[0] === "lanes" || (path[0] === "graphs" && path[2] !== "turn"))) lanesVersion.value += 1;
    head.value = record.k;
    if (!isRewound.value) shown.value = record.k;
    if (actor && record.row.icon !== "thought" && record.row.icon !== "tool") {
      const { [actor]: _done, ...others } = thinking.value;
      thinking.value = others;
    }
  });
  if (isRewound.value) return;
  tell(record, newest);
  show(topologyIcons.has(record.row.icon));
}

/** Tell who wants to know of a record. What goes wrong there must not stop the stream. @param {Record} record @param {View} view */
function tell(record, view) {
  for (const listener of recordListeners) {
    try {
      listener(record, view);
    } catch (wrong) {
      console.error(wrong);
    }
  }
}

/** @param {any} message */
function takeSignal(message) {
  if (message.thinking) thinking.value = message.thinking;
  if (message.driver) driver.value = message.driver[session.value.run] ?? null;
}

/** Have the panels drawn: at once, or with whatever else comes within a tenth of a second. @param {boolean} isUrgent */
function show(isUrgent) {
  if (isUrgent || isStill) {
    clearTimeout(panelTimer);
    panelTimer = undefined;
    moment.value += 1;
  } else if (panelTimer === undefined) {
    panelTimer = setTimeout(() => {
      panelTimer = undefined;
      moment.value += 1;
    }, panelMilliseconds);
  }
}

/**
 * Show the moment right after event number `k`. The last of several wins.
 * @param {number} k
 * @param {{keepsReplaying?: boolean}} [how]
 */
export async function seek(k, how = {}) {
  if (!newest) return;
  if (!how.keepsReplaying) stopReplay();
  const wanted = Math.max(1, Math.min(Math.round(k), head.value));
  seeks += 1;
  if (wanted === head.value) return goLive();
  const mine = seeks;
  const number = pageOf(wanted);
  let page = pages.get(number);
  if (!page || !isLoaded(page, number)) {
    try {
      page = await pageForSeek(number, mine);
    } catch (wrong) {
      if (mine === seeks) toast(messageOf(wrong), { kind: "error" });
      return;
    }
    if (mine !== seeks || !page) return;
    if (!page.records[wanted - 1 - number * recordsPerPage]) return toast(`Event ${wanted} cannot be loaded.`, { kind: "error" });
  }
  const reached = viewAt(/** @type {Page} */ (page), wanted);
  batch(() => {
    past = reached;
    isRewound.value = true;
    shown.value = wanted;
    moment.value += 1;
  });
  setMomentSoon(reached.event_id);
}

/**
 * The page of records that a seek needs. One is asked for at a time: whoever drags across many pages waits for the last one
 * alone.
 * @param {number} number
 * @param {number} mine
 * @returns {Promise<Page|undefined>}
 */
async function pageForSeek(number, mine) {
  while (loadingForSeek) {
    await loadingForSeek.catch(() => {});
    if (mine !== seeks) return undefined;
  }
  const loading = loadPage(number);
  loadingForSeek = loading;
  try {
    return await loading;
  } finally {
    if (loadingForSeek === loading) loadingForSeek = null;
  }
}

/** Name the moment in the address once it stays: browsers refuse too many changes. @param {string|undefined} eventId */
function setMomentSoon(eventId) {
  clearTimeout(addressTimer);
  addressTimer = setTimeout(() => setAddress({ at: eventId }), addressMilliseconds);
}

/** @param {Page} page @param {number} k @returns {View} */
function viewAt(page, k) {
  const start = /** @type {View} */ (page.start);
  const canGoOn = past && past.k <= k && past.k >= start.k && k - past.k < eventsBetweenKeyframes;
  const frame = k - ((k - start.k) % eventsBetweenKeyframes);
  let view = /** @type {View} */ (canGoOn ? past : nearest(page, frame));
  if (!canGoOn) view = cloneView(view);
  while (view.k < k) {
    apply(view, page.records[view.k - start.k]);
    if ((view.k - start.k) % eventsBetweenKeyframes === 0) page.keyframes.set(view.k, cloneView(view));
  }
  return view;
}

/** @param {Page} page @param {number} frame @returns {View} */
function nearest(page, frame) {
  const start = /** @type {View} */ (page.start);
  for (let k = frame; k > start.k; k -= eventsBetweenKeyframes) {
    const kept = page.keyframes.get(k);
    if (kept) return kept;
  }
  return start;
}

/** Show the moment of an event. @param {string} eventId */
export async function seekEvent(eventId) {
  const k = await numberOf(eventId);
  if (k) await seek(k);
  else toast("This event is not in the run.", { kind: "error" });
}

/** The number of an event in the story; 0 if it has none. @param {string} eventId @returns {Promise<number>} */
export async function numberOf(eventId) {
  for (const { records } of pages.values()) {
    const match = records.find((record) => record?.id === eventId);
    if (match) return match.k;
  }
  try {
    return (await reading.about(session.value.run, eventId, "number")).k;
  } catch {
    return 0;
  }
}

/** Show the newest moment, and follow it. */
export function goLive() {
  stopReplay();
  seeks += 1;
  batch(() => {
    past = null;
    isRewound.value = false;
    shown.value = head.value;
    moment.value += 1;
  });
  setMomentSoon(undefined);
}

/** Go some events back or forward. @param {number} events */
export const stepBy = (events) => seek(shown.value + events);

/** Go to the next or previous scene, merge, split or verdict. @param {1|-1} direction */
export function stepToMark(direction) {
  const marks = timeline.value.marks.filter(([, icon]) => icon !== "run").map(([k]) => k);
  const next = direction > 0 ? marks.find((k) => k > shown.value) : marks.findLast((k) => k < shown.value);
  return next ? seek(next) : direction > 0 ? goLive() : seek(1);
}

/** How long a line is read: as `views/reading_time.py` has it, which a test compares. */
const wordsPerMinute = 240;
const lineFoundMilliseconds = 700;
const lineMilliseconds = { min: 1600, max: 17000 };
const quietMilliseconds = 120;

/** How long an average reader needs for a text. @param {string} text */
const millisecondsToRead = (text) => {
  const words = text.split(/\s+/).filter(Boolean).length;
  return Math.min(lineMilliseconds.max, Math.max(lineMilliseconds.min, lineFoundMilliseconds + (words * 60_000) / wordsPerMinute));
};

/** Play the past on, at the pace of a reader, until the newest event. */
export function replay() {
  if (!isRewound.value) return;
  isReplaying.value = true;
  const now = record(shown.value);
  const line = now && isSpeech(now) ? now.row.text : "";
  clearTimeout(replayTimer);
  replayTimer = setTimeout(showNext, (line ? millisecondsToRead(line) : quietMilliseconds) / replaySpeed.value);
}

/** Show the next event of what is replayed, and go on. */
async function showNext() {
  await seek(shown.value + 1, { keepsReplaying: true });
  const reached = view();
  const recordShown = record(shown.value);
  if (reached && recordShown) tell(recordShown, reached);
  if (isReplaying.value && isRewound.value) replay();
  else isReplaying.value = false;
}

/** Show the next line of what is rewound, and replay on from there if it is replayed. */
export async function skipToNextLine() {
  if (!isRewound.value) return;
  clearTimeout(replayTimer);
  const isLine = (/** @type {Record|undefined} */ at) => at !== undefined && at.row.text && isSpeech(at);
  let next = shown.value + 1;
  while (next < head.value && record(next) && !isLine(record(next))) next += 1; // What is not loaded is shown as it comes.
  await seek(next, { keepsReplaying: true });
  if (isReplaying.value && isRewound.value) replay();
}

export function stopReplay() {
  clearTimeout(replayTimer);
  isReplaying.value = false;
}

const speechIcons = new Set(["line", "judge", "visitor", "world"]);
/** Whether a row is something that was said. @param {Record} record */
export const isSpeech = (record) => speechIcons.has(record.row.icon);

/** @param {import("page/address").Address} from */
function filtersIn({ kind, creature, graph, channel, text }) {
  return { kind: kind ?? "all", creature: creature ?? "", graph: graph ?? "", channel: channel ?? "", text: text ?? "" };
}

/** Change what the feed shows. @param {Partial<ReturnType<typeof filtersIn>>} parts */
export function setFilters(parts) {
  filters.value = { ...filters.value, ...parts };
  const { kind, ...others } = filters.value;
  setAddress({ kind: kind === "all" ? "" : kind, ...others });
}

/** Show what everybody thinks, or nobody. */
export function toggleMinds() {
  if (!canReadMinds()) return;
  batch(() => {
    flipped.value = new Set();
    minds.value = !minds.value;
  });
}

/** Show what one creature thinks, or hide it. @param {string} id */
export function flip(id) {
  const next = new Set(flipped.value);
  if (!next.delete(id)) next.add(id);
  flipped.value = next;
}

/** Show a dialog. @param {string} name @param {any} [args] */
export const openDialog = (name, args) => {
  dialog.value = { name, args };
};
export const closeDialog = () => {
  dialog.value = null;
};
