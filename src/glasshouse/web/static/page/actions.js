// @ts-check
/** What can be done from anywhere on the page. Panels add what belongs to them. */
import { flipTheme } from "page/colours";
import { isCurtainDown, putCurtainAside, showCurtain } from "page/curtain/state";
import { nextLine, pause, play, resume, step } from "page/commands";
import { canImport, chooseFile } from "page/importing";
import { listen, register } from "page/keys";
import { areLanesOpen, areSidesFree, isDrawer, isDrawerOpen, tab } from "page/sides";
import { canDisturb, canReadMinds, closeDialog, dialog, driver, goLive, isDirector, isRecorded, isReplaying, isRewound, open, openDialog, panel, replay, run, seek, selection, session, skipToNextLine, source, status, stepBy, stepToMark, stopReplay, toggleMinds } from "page/store";

const hasRun = () => run() !== undefined;
const isFor = () => isDirector.value;
const canDirect = () => isDirector.value && hasRun();
/** Whether the run can be played, disturbed and finished. */
const canDrive = () => canDirect() && !isRecorded.value;
/** Whether the run can be finished, or played on in a child: a page that only follows another process cannot. */
export const canFinish = () => canDrive() && !session.value.isGuest;
export const canPlayOn = () => canDirect() && isRecorded.value && !session.value.isGuest;

/** Whether nothing more comes: the run has finished, or it was recorded until here. */
export const canReplay = () => isRecorded.value || source().kind === "file";

/** Play or pause: the run while live, the page's own replay while rewound and where nothing more will come. */
export function playOrPause() {
  if (isRewound.value) return isReplaying.value ? stopReplay() : replay();
  if (canReplay()) return seek(1).then(replay);
  if (!isDirector.value) return undefined;
  return status.value === "live" ? pause() : play();
}

/** Play on what is over, in a child of it, and show that. */
export async function playOn() {
  const child = await resume();
  if (child) void open(child.id, { isStep: true });
}

/** Whether there is a line to skip: the run waits for its reader, or the page shows the past. */
export const canSkip = () => isRewound.value || (isDirector.value && status.value === "live" && driver.value?.speed === "reading");

/** Go on to the next line: of the run while live, of the past while rewound. */
export const skip = () => (isRewound.value ? skipToNextLine() : nextLine());

/** Show the events where they are not in sight already: in the drawer, or in their tab, and from there the words again. */
function showEvents() {
  if (areSidesFree()) isDrawerOpen.value = !isDrawerOpen.value;
  else tab.value = tab.value === "feed" ? "words" : "feed";
}

/** Close what is open; then deselect; then go back to live. */
function back() {
  if (dialog.value) closeDialog();
  else if (panel.value) panel.value = "";
  else if (areLanesOpen.value && !areSidesFree()) areLanesOpen.value = false;
  else if (isDrawerOpen.value && isDrawer()) isDrawerOpen.value = false;
  else if (selection.value) selection.value = null;
  else if (isRewound.value) goLive();
  else if (isCurtainDown.value) putCurtainAside();
}

/** @type {import("page/keys").Action[]} */
const actions = [
  { id: "play", key: "Space", label: "Play or pause", group: "Time", when: hasRun, run: playOrPause },
  { id: "next", key: "Enter", label: "Next line", group: "Time", when: canSkip, run: () => void skip() },
  { id: "step", key: ".", label: "Run one turn", group: "Time", isFor, when: canDrive, run: () => void step() },
  { id: "back", key: "[", label: "One event back", group: "Time", when: hasRun, run: () => void stepBy(-1) },
  { id: "forward", key: "]", label: "One event forward", group: "Time", when: hasRun, run: () => void stepBy(1) },
  { id: "mark-back", key: "Shift+[", label: "Previous scene, merge or split", group: "Time", when: hasRun, run: () => void stepToMark(-1) },
  { id: "mark-forward", key: "Shift+]", label: "Next scene, merge or split", group: "Time", when: hasRun, run: () => void stepToMark(1) },
  { id: "first", key: "Home", label: "To the start", group: "Time", when: hasRun, run: () => void seek(1) },
  { id: "live", key: "End", label: "To the newest event", group: "Time", when: hasRun, run: () => (goLive(), showCurtain()) },
  { id: "branch", key: "B", label: "Branch from here", group: "Time", isFor, when: canDirect, run: () => openDialog("branch") },
  { id: "disturb", key: "I", label: "Disturb the show", group: "Show", isFor, when: () => hasRun() && canDisturb.value, run: () => openDialog("disturb") },
  { id: "finish", label: "Finish this run", group: "Show", isFor, when: canFinish, run: () => openDialog("finish") },
  { id: "play-on", label: "Play on in a new run", group: "Show", isFor, when: canPlayOn, run: () => void playOn() },
  { id: "start", label: "New play", group: "Show", isFor, when: () => isDirector.value, run: () => openDialog("start") },
  { id: "archive", label: "Open the archive", group: "Show", run: () => openDialog("archive") },
  { id: "import", label: "Import a run", group: "Show", when: canImport, run: chooseFile },
  { id: "share", label: "Share this run", group: "Show", when: hasRun, run: () => openDialog("share") },
  { id: "minds", key: "T", label: "Read all minds", group: "Show", isFor: canReadMinds, when: canReadMinds, run: toggleMinds },
  { id: "drawer", key: "E", label: "Events drawer", group: "Page", run: showEvents },
  { id: "theme", key: "D", label: "Theme: light or dark", group: "Page", run: flipTheme },
  { id: "palette", key: "Ctrl+K", label: "Find or do anything", group: "Page", run: () => openDialog("palette") },
  { id: "help", key: "?", label: "Keys", group: "Page", run: () => openDialog("help") },
  { id: "settings", label: "Settings", group: "Page", run: () => openDialog("settings") },
  { id: "escape", key: "Escape", label: "Close, deselect, back to live", group: "Page", isHidden: true, run: back },
];

let isListening = false;

export function registerActions() {
  const ends = actions.map(register);
  if (!isListening) listen(() => dialog.value !== null);
  isListening = true;
  return () => ends.forEach((end) => end());
}
