// @ts-check
/** The script: every line of the play in order, with place and addressee, and one mark for what happened in between. */
import { html, useEffect, useState } from "page/html";
import { FaceSwitch } from "page/centre/switch";
import { register } from "page/keys";
import { choosePlace, hasMarks, isFollowing, List, place } from "page/script/list";
import { graphName } from "page/graph/summary";
import { headView, moment, status } from "page/store";
import { Button, Menu } from "page/ui";

/** Places in the menu: of more, those that are there now, then the newest. */
const placesMax = 40;
const keptAs = "glasshouse.marks";

try {
  hasMarks.value = localStorage.getItem(keptAs) !== "off";
} catch {
  // A browser that keeps nothing shows them.
}

/** Show what happened between lines, or hide it. */
function flipMarks() {
  hasMarks.value = !hasMarks.value;
  try {
    localStorage.setItem(keptAs, hasMarks.value ? "on" : "off");
  } catch {
    // A browser that keeps nothing forgets it.
  }
}

export function Script() {
  useEffect(() => register({ id: "marks", key: "M", label: "Marks between the lines", group: "Script", run: flipMarks }), []);
  return html`<div class="script-face">
    <div class="face-head script-head"><${FaceSwitch} /><${Following} /><span class="spacer"></span><${Places} />
      <${Button} label="Marks" icon="channel" isPressed=${hasMarks.value} title="What happened between the lines (M)" onClick=${flipMarks} /></div>
    <${List} />
  </div>`;
}

function Following() {
  return isFollowing.value && ["live", "paused", "pausing"].includes(status.value) ? html`<span class="pill script-following"><i class="dot" aria-hidden="true"></i><span>Following</span></span>` : null;
}

/** The names of the graphs of a story, also of those that are gone: those that are there first. @param {import("page/apply").View} view */
export function placesOf(view) {
  const living = Object.values(view.graphs);
  const gone = Object.values(view.lanes).reverse().flatMap(({ name }) => (name ? [{ name }] : []));
  return [...new Set([...living, ...gone].map((graph) => graphName(graph, view)))].slice(0, placesMax);
}

function Places() {
  moment.value;
  const [menu, setMenu] = useState(/** @type {{x: number, y: number}|null} */ (null));
  const view = headView();
  const places = view ? placesOf(view) : [];
  const chosen = place.value;
  if (places.length < 2 && !chosen) return null;
  /** @param {MouseEvent} event */
  const open = (event) => {
    const { left, bottom } = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    setMenu({ x: left, y: bottom + 4 });
  };
  const items = ["", ...places].map((name) => ({ label: name || "All places", icon: name === chosen ? "check" : "channel", run: () => choosePlace(name) }));
  return html`<${Button} label=${chosen || "All places"} icon="filter" isPressed=${Boolean(chosen)} onClick=${open} title="Show the lines of one place" />
    ${menu ? html`<${Menu} label="Places" x=${menu.x} y=${menu.y} items=${items} onClose=${() => setMenu(null)} />` : null}`;
}
