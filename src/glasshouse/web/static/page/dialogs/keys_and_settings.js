// @ts-check
/** Dialogs about the page itself: the keys, the command palette, the settings. */
import { html, useMemo, useState } from "page/html";
import { areLettersOn, offered, turnLetters, withKeys } from "page/keys";
import { setTheme, theme } from "page/colours";
import { isAloud, turnAloud } from "page/script/aloud";
import { closeDialog } from "page/store";
import { Button, Dialog } from "page/ui";

/** The caps of a key; a plus joins others, and is a key itself. @param {string} key */
const keyWords = (key) => key.replace("Escape", "Esc").split(/(?<=[^+])\+/).map((part) => html`<kbd>${part}</kbd>`);

/** The caps of keys that do the same. @param {string} keys */
const eitherKey = (keys) => keys.split(" ").map((key, at) => html`${at ? html`<span>or</span>` : null}${keyWords(key)}`);

export function Help() {
  const actions = withKeys();
  const groups = [...new Set(actions.map((action) => action.group))];
  return html`<${Dialog} title="Keys" width=${760} footer=${html`<${Button} label="Close" onClick=${closeDialog} />`}>
    <div class="keys">
      ${groups.map((group) => html`<div><h3>${group}</h3><dl>
        ${actions.filter((action) => action.group === group).map((action) => html`<div><dt>${eitherKey(action.key ?? "")}</dt><dd>${action.label}</dd></div>`)}
      </dl></div>`)}
    </div>
  <//>`;
}

export function Palette() {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const all = useMemo(offered, []);
  const words = text.toLowerCase().split(/\s+/);
  const matches = all.filter((action) => words.every((word) => `${action.label} ${action.group}`.toLowerCase().includes(word)));
  const chosen = Math.min(at, matches.length - 1);
  const perform = (/** @type {import("page/keys").Action|undefined} */ action) => {
    closeDialog();
    action?.run();
  };
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined || !matches.length) return;
    event.preventDefault();
    setAt((chosen + by + matches.length) % matches.length);
  };
  return html`<${Dialog} title="What shall happen?" width=${560} onSubmit=${() => perform(matches[chosen])}>
    <input class="input" type="text" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-activedescendant=${matches[chosen] ? `do-${matches[chosen].id}` : undefined} aria-label="Search for something to do" data-first
      placeholder="Type a few letters" value=${text} onInput=${(/** @type {any} */ event) => (setText(event.target.value), setAt(0))} onKeyDown=${onKeyDown} autocomplete="off" />
    <div class="palette" id="palette-list" role="listbox" aria-label="What can be done">
      ${matches.map((action, number) => html`<div id=${`do-${action.id}`} role="option" aria-selected=${number === chosen} class=${number === chosen ? "is-on" : ""} onClick=${() => perform(action)}>
        <span>${action.label}</span><small>${action.group}</small>${action.key ? keyWords(action.key.split(" ")[0]) : null}
      </div>`)}
      ${matches.length ? null : html`<p class="empty">Nothing is called that.</p>`}
    </div>
  <//>`;
}

export function Settings() {
  return html`<${Dialog} title="Settings" footer=${html`<${Button} label="Close" onClick=${closeDialog} />`}>
    <label class="switch"><input type="checkbox" checked=${areLettersOn.value} onChange=${(/** @type {any} */ event) => turnLetters(event.target.checked)} />
      <span>Single letters are keys<small>Off: only keys with Ctrl, and Escape</small></span></label>
    <label class="switch"><input type="checkbox" checked=${theme.value === "dark"} onChange=${(/** @type {any} */ event) => setTheme(event.target.checked ? "dark" : "light")} />
      <span>Dark<small>At first the page follows the system</small></span></label>
    <label class="switch"><input type="checkbox" checked=${isAloud.value} onChange=${(/** @type {any} */ event) => turnAloud(event.target.checked)} />
      <span>Read lines aloud<small>A screen reader reads each new line of the script, one at a time</small></span></label>
  <//>`;
}
