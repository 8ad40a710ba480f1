// @ts-check
/** Dialogs about the page itself: the keys and the settings. */
import { html } from "page/html";
import { areLettersOn, turnLetters, withKeys } from "page/keys";
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
