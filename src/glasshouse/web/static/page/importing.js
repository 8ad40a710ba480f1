// @ts-check
/** Importing a run from a file: by a dialog, or by dropping it anywhere on the page. For directors; what it brings is read-only. */
import { signal } from "@preact/signals";
import { html, useEffect } from "page/html";
import { icon } from "page/icons";
import { closeDialog, isDirector, open, session, source } from "page/store";
import { announce, toast } from "page/toast";

/** The server takes no larger file: as `web/limits.py` has it, which a test compares. */
export const fileBytesMax = 268_435_456;

const isOver = signal(false);
/** The file that is being imported. */
const underWay = signal("");

/** Whether a file can be imported here: a page that only follows another process writes nothing. */
export const canImport = () => isDirector.value && !session.value.isGuest && source().kind === "server";

/** Let a file be chosen, and import it. */
export function chooseFile() {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.accept = ".glass,.jsonl";
  input.onchange = () => void importFiles(Array.from(input.files ?? []));
  input.click();
}

/** Import files one after the other, and show what the last of them brought. @param {File[]} files */
export async function importFiles(files) {
  let run = "";
  for (const file of files) run = (await imported(file)) || run;
  if (!run) return;
  closeDialog();
  await open(run, { isStep: true });
}

/** Import one file. A refusal is told in the server's words. @param {File} file @returns {Promise<string>} its run, or nothing */
async function imported(file) {
  if (file.size > fileBytesMax) {
    toast(`${file.name} was not imported: a file has at most ${fileBytesMax.toLocaleString("en")} bytes.`, { kind: "error" });
    return "";
  }
  underWay.value = file.name;
  try {
    const { run_id: run, events } = await source().importFile(file);
    const words = `${file.name}: ${events.toLocaleString("en")} events, recorded.`;
    toast(run ? words : `${words} No run is in it.`);
    announce(words);
    return run ?? "";
  } catch (wrong) {
    toast(wrong instanceof Error ? wrong.message : String(wrong), { kind: "error" });
    return "";
  } finally {
    underWay.value = "";
  }
}

/** What lies over the page while a file is held over it, or is being imported. */
export function DropVeil() {
  useEffect(followDrags, []);
  if (underWay.value) return html`<p class="drop-note" role="status"><i class="dots" aria-hidden="true"><i></i><i></i><i></i></i>Importing ${underWay.value}</p>`;
  if (!isOver.value) return null;
  return html`<div class="veil is-blurred drop-veil" role="status"><div>${icon("archive")}<b>Drop to import</b><span>A .glass or .jsonl file that glasshouse export wrote</span></div></div>`;
}

/** Follow what is dragged over the page. A file that may not be imported is not opened in the page's place either. */
function followDrags() {
  /** @param {DragEvent} event */
  const hasFiles = (event) => Boolean(event.dataTransfer?.types.includes("Files"));
  /** @param {DragEvent} event */
  const over = (event) => {
    if (!hasFiles(event) || !event.dataTransfer) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = canImport() ? "copy" : "none";
    isOver.value = canImport();
  };
  /** @param {DragEvent} event */
  const leave = (event) => {
    if (!event.relatedTarget) isOver.value = false; // It has left the window, not only a part of the page.
  };
  /** @param {DragEvent} event */
  const drop = (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    isOver.value = false;
    if (canImport()) void importFiles(Array.from(event.dataTransfer?.files ?? []));
  };
  const heard = /** @type {[string, any][]} */ ([["dragenter", over], ["dragover", over], ["dragleave", leave], ["drop", drop]]);
  for (const [name, listener] of heard) addEventListener(name, listener);
  return () => {
    for (const [name, listener] of heard) removeEventListener(name, listener);
  };
}
