// @ts-check
/** The script: every line of the play in order, with place and addressee, and one mark for what happened in between. */
import { html, useEffect, useState } from "page/html";
import { FaceSwitch } from "page/centre/switch";
import { register } from "page/keys";
import { choosePlace, hasMarks, isFollowing, List, place } from "page/script/list";
import { graphName } from "page/graph/summary";
import { headView, isReplaying, moment, status } from "page/store";
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
  const [menu, setMenu] = useState(/** @type {{x: number, y: number}|null} */ (null));
  useEffect(() => register({ id: "marks", key: "M", label: "Marks between the lines", group: "Script", run: flipMarks }), []);
  return html`<div class="script-face">
    <div class="face-head script-head"><${FaceSwitch} /><${Following} /><span class="spacer"></span><${Places} onOpen=${setMenu} />
      <${Button} label="Marks" icon="channel" isPressed=${hasMarks.value} title="What happened between the lines (M)" onClick=${flipMarks} /></div>
    <${List} />
    ${menu ? html`<${PlacesMenu} at=${menu} onClose=${() => setMenu(null)} />` : null}
  </div>`;
}

function Following() {
  const isGoingOn = isReplaying.value || ["live", "paused", "pausing"].includes(status.value);
  return isFollowing.value && isGoingOn ? html`<span class="pill script-following"><i class="dot" aria-hidden="true"></i><span>Following</span></span>` : null;
}

/** The names of the graphs of a story, also of those that are gone: those that are there first. @param {import("page/apply").View} view */
export function placesOf(view) {
  const living = Object.values(view.graphs);
  const gone = Object.values(view.lanes).reverse().flatMap(({ name }) => (name ? [{ name }] : []));
  return [...new Set([...living, ...gone].map((graph) => graphName(graph)))].slice(0, placesMax);
}

/** @param {{onOpen: (at: {x: number, y: number}) => void}} props */
function Places({ onOpen }) {
  moment.value;
  const view = headView();
  if (!place.value && (!view || placesOf(view).length < 2)) return null;
  /** @param {MouseEvent} event */
  const open = (event) => {
    const { left, bottom } = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    onOpen({ x: left, y: bottom + 4 });
  };
  return html`<${Button} label=${place.value || "All places"} icon="filter" isPressed=${place.value !== ""} onClick=${open} title="Show the lines of one place" />`;
}

/** @param {{at: {x: number, y: number}, onClose: () => void}} props */
function PlacesMenu({ at, onClose }) {
  const view = headView();
  const items = ["", ...(view ? placesOf(view) : [])].map((name) => ({ label: name || "All places", icon: name === place.value ? "check" : "channel", run: () => choosePlace(name) }));
  return html`<${Menu} label="Places" x=${at.x} y=${at.y} items=${items} onClose=${onClose} />`;
}
