// @ts-check
/** The menu of a phone: what the bar and the transport of a wide page have, from the one list of what can be done. */
import { html, useState } from "page/html";
import { familyItems } from "page/bar";
import { areLanesOpen } from "page/sides";
import { offered, perform } from "page/keys";
import { form } from "page/form";
import { theme } from "page/colours";
import { play } from "page/commands";
import { loadFamily } from "page/time/family";
import { canReplay } from "page/actions";
import { driver, isDirector, isRewound, minds, openDialog, run, status } from "page/store";
import { IconButton, Menu } from "page/ui";

/** @typedef {{label: string, icon: string, run: () => void}} Item */

/** What is offered, in the order of the menu; each only while it can be done. @type {[string, string, string?][]} */
const actions = [
  ["disturb", "bolt", "Disturb"],
  ["branch", "branch"],
  ["finish", "stop"],
  ["play-on", "play"],
  ["start", "plus"],
  ["share", "share"],
  ["archive", "archive"],
  ["minds", "eye"],
  ["search", "search"],
  ["palette", "menu"],
  ["settings", "settings"],
  ["help", "question"],
];

/** @returns {Item[]} */
function items() {
  const can = new Map(offered().map((action) => [action.id, action]));
  const [isLow, isDark] = [form.value === "low", theme.value === "dark"];
  /** @type {(Item|false)[]} */
  const all = [
    run() !== undefined && { label: "Lanes and steps", icon: "merge", run: () => (areLanesOpen.value = true) },
    run() !== undefined && { label: "Costs and limits", icon: "judge", run: () => openDialog("purse") },
    ...speedItems(),
    ...actions.flatMap(([id, icon, label]) => {
      const action = can.get(id);
      // Disturb has a button of its own, but not where the page is low.
      if (!action || (id === "disturb" && !isLow)) return [];
      return [{ label: label ?? (id === "minds" && minds.value ? "Hide all minds" : action.label), icon, run: () => perform(id) }];
    }),
    { label: isDark ? "Light theme" : "Dark theme", icon: isDark ? "sun" : "moon", run: () => perform("theme") },
    ...familyItems(),
  ];
  return all.filter((item) => item !== false);
}

/** Whether the run waits for its readers. @returns {Item[]} */
function speedItems() {
  if (!isDirector.value || isRewound.value || canReplay() || status.value !== "live") return [];
  const isFast = driver.value?.speed === "fast";
  return [{ label: isFast ? "Play at reading pace" : "Play fast", icon: "turn", run: () => void play(isFast ? "reading" : "fast") }];
}

export function MoreMenu() {
  const [menu, setMenu] = useState(/** @type {{x: number, y: number}|null} */ (null));
  /** @param {MouseEvent} event */
  const open = (event) => {
    const { right, bottom } = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    setMenu({ x: right, y: bottom + 4 });
    if (run()) void loadFamily();
  };
  return html`<${IconButton} id="more" label="Menu" icon="menu" kind=${form.value === "low" ? "plain" : "quiet"} onClick=${open} />
    ${menu ? html`<${Menu} label="Menu" ...${menu} items=${items()} onClose=${() => setMenu(null)} />` : null}`;
}
