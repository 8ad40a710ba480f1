// @ts-check
/** Where a shared file begins: unpack the record, and show it with the page's own parts. */
import { effect } from "@preact/signals";
import { isStill, leaveAddress } from "page/address";
import { sessionOf } from "page/apply";
import { html, render } from "page/html";
import { listen, register } from "page/keys";
import * as store from "page/store";
import { flipTheme } from "page/colours";
import { playOrPause } from "page/actions";
import { read } from "page/share/lines";
import { copyLink, current, goTo, stepLine } from "page/share/navigation";
import { SharePage } from "page/share/page";
import { fileSource, unpacked } from "page/share/file_source";
import { forks } from "page/time/family";

const addressMilliseconds = 300;
const root = /** @type {HTMLElement} */ (document.getElementById("app"));

async function begin() {
  const { json, packed } = await unpacked(document.getElementById("record")?.textContent ?? "");
  const story = read(packed);
  leaveAddress();
  store.readFrom(fileSource(packed));
  store.session.value = { ...store.session.value, role: packed.role };
  current.value = { packed, story, json };
  forks.value = packed.branches.map(({ id, name, at, k, events }) => ({ run: id, title: name, at: k, session: sessionOf(at), length: events }));
  await store.open(packed.run_id);
  await store.loadPage(0);
  await store.seek(numberInAddress() ?? story.lines[0]?.k ?? packed.first);
  root.replaceChildren();
  render(html`<${SharePage} />`, root);
  if (numberInAddress()) goTo(store.shown.value);
  followAddress();
  registerKeys();
  if (isStill) Object.assign(globalThis, { glasshouse: { store } });
}

/** `#56` is the moment of event 56. */
function numberInAddress() {
  const number = Number(location.hash.slice(1));
  return Number.isInteger(number) && number > 0 ? number : undefined;
}

function followAddress() {
  addEventListener("hashchange", () => {
    const number = numberInAddress();
    if (number && number !== store.shown.value) goTo(number);
  });
  let before = store.shown.value;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;
  effect(() => {
    const { packed } = /** @type {import("page/share/navigation").Shared} */ (current.value);
    const now = store.shown.value;
    if (now < packed.first) void store.seek(packed.first); // The file has no earlier moment.
    if (now === before) return;
    before = now;
    clearTimeout(timer);
    timer = setTimeout(() => {
      try {
        history.replaceState(null, "", `#${now}`);
      } catch {
        // A frame without an address of its own has none to follow.
      }
    }, addressMilliseconds);
  });
}

function registerKeys() {
  /** @type {import("page/keys").Action[]} */
  const actions = [
    { id: "next", key: "J", label: "Next line", group: "Lines", run: () => stepLine(1) },
    { id: "previous", key: "K", label: "Previous line", group: "Lines", run: () => stepLine(-1) },
    { id: "copy", key: "Y", label: "Copy the link", group: "Lines", run: copyLink },
    { id: "play", key: "Space", label: "Play or pause", group: "Time", run: playOrPause },
    { id: "back", key: "[", label: "One event back", group: "Time", run: () => void store.stepBy(-1) },
    { id: "forward", key: "]", label: "One event forward", group: "Time", run: () => void store.stepBy(1) },
    { id: "first", key: "Home", label: "To the start", group: "Time", run: () => void store.seek(1) },
    { id: "last", key: "End", label: "To the end", group: "Time", run: store.goLive },
    { id: "minds", key: "T", label: "Show thoughts", group: "Lines", run: () => (store.minds.value = !store.minds.value) },
    { id: "theme", key: "D", label: "Light or dark", group: "Page", run: flipTheme },
  ];
  actions.forEach(register);
  listen(() => false);
}

begin().catch((wrong) => {
  const words = document.createElement("p");
  words.className = "first-words";
  words.textContent = `The record in this file cannot be read. ${wrong instanceof Error ? wrong.message : wrong}`;
  root.replaceChildren(words);
});
