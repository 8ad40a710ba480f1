// @ts-check
/** The palette: one field that finds what can be done, who there is, what was said, and what else can be opened. */
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "page/html";
import { icon } from "page/icons";
import { commandEntries, creatureEntries, lineEntries, olderLines, runEntries, settingEntries, worldEntries } from "page/palette/entries";
import { ranked } from "page/palette/rank";
import { closeDialog } from "page/store";
import { Dialog } from "page/ui";

/** @typedef {import("page/palette/rank").Entry} Entry */

const askMilliseconds = 250;
const typedCharsMax = 100;
const pageRows = 8;
const kindIcons = { command: "arrow", setting: "settings", creature: "creature", world: "world", run: "run", line: "line" };

/** @param {string} key */
const keyWords = (key) => key.replace("Escape", "Esc").split("+").map((part) => html`<kbd>${part}</kbd>`);

/** What the server knows, asked a moment after the last letter. An answer to older letters is dropped. @param {string} typed */
function useServer(typed) {
  const [worlds, setWorlds] = useState(/** @type {Entry[]} */ ([]));
  const [found, setFound] = useState(/** @type {Entry[]} */ ([]));
  const [isAsking, setAsking] = useState(false);
  useEffect(() => void worldEntries().then(setWorlds, () => {}), []);
  useEffect(() => {
    let isOld = false;
    setAsking(true);
    const timer = setTimeout(async () => {
      const answers = await Promise.allSettled([runEntries(typed), olderLines(typed)]);
      if (isOld) return;
      setFound(answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : [])));
      setAsking(false);
    }, typed ? askMilliseconds : 0);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [typed]);
  return { entries: [...worlds, ...found], isAsking };
}

export function Palette() {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef(/** @type {HTMLElement|null} */ (null));
  const here = useMemo(() => [...commandEntries(), ...settingEntries(), ...creatureEntries()], []);
  const server = useServer(typed);
  const lines = useMemo(() => lineEntries(typed), [typed]);
  const matches = useMemo(() => ranked(typed, unique([...here, ...server.entries, ...lines])), [typed, here, server.entries.length, server.isAsking, lines]);
  const chosen = Math.min(at, matches.length - 1);
  useLayoutEffect(() => list.current?.querySelector(".is-on")?.scrollIntoView({ block: "nearest" }), [chosen, typed]);
  const perform = (/** @type {Entry|undefined} */ entry) => {
    if (!entry) return;
    closeDialog();
    entry.run();
  };
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    const next = { ArrowDown: chosen + 1, ArrowUp: chosen - 1, PageDown: Math.min(matches.length - 1, chosen + pageRows), PageUp: Math.max(0, chosen - pageRows) }[event.key];
    if (next === undefined || !matches.length) return;
    event.preventDefault();
    setAt((next + matches.length) % matches.length);
  };
  const count = matches.length ? `${matches.length} found` : server.isAsking ? "" : "Nothing is called that, and nobody said it.";
  return html`<${Dialog} id="palette" title="Find or do anything" width=${620} onSubmit=${() => perform(matches[chosen])}>
    <input class="input" type="text" role="combobox" aria-expanded="true" aria-haspopup="listbox" aria-autocomplete="list" aria-controls="palette-list" aria-activedescendant=${chosen >= 0 ? `found-${chosen}` : undefined} aria-label="Find a creature, a line, a world, a run, a command or a setting" data-first
      placeholder="A creature, a line, a world, a run, a command, a setting" maxlength=${typedCharsMax} value=${typed} onInput=${(/** @type {any} */ event) => (setTyped(event.target.value), setAt(0))} onKeyDown=${onKeyDown} autocomplete="off" spellcheck="false" />
    <div class="palette" id="palette-list" role="listbox" aria-label="Found" ref=${list}>
      ${matches.map((entry, number) => html`<div key=${entry.id} id=${`found-${number}`} role="option" aria-selected=${number === chosen} class=${`${number === chosen ? "is-on " : ""}is-${entry.kind}`} onClick=${() => perform(entry)} onMouseMove=${() => number !== chosen && setAt(number)}>
        ${icon(kindIcons[entry.kind], 14)}<span dir="auto">${entry.name}</span><small>${entry.hint}</small>${entry.key ? keyWords(entry.key.split(" ")[0]) : null}
      </div>`)}
      ${matches.length || server.isAsking ? null : html`<p class="empty">${count}</p>`}
    </div>
    <p class="hidden" role="status">${count}</p>
  <//>`;
}

/** Each entry once: a line may be here and come from the server too. @param {Entry[]} entries */
const unique = (entries) => [...new Map(entries.map((entry) => [entry.id, entry])).values()];
