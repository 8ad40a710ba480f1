// @ts-check
/**
 * The cast of a phone: a row of faces. A tap shows that creature's last line, a second one returns to the newest.
 *
 * Always holds: only faces in sight are in the page, so a thousand creatures cost no more than ten.
 */
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "page/html";
import { Face } from "page/face";
import { creatureItems } from "page/graph/changes";
import { titleOf } from "page/graph/summary";
import { onLongPress } from "page/phone/touch";
import { castOf, lastSpeaker, speaker } from "page/stage/cast";
import { moment, selection, thinking, view } from "page/store";
import { Menu } from "page/ui";

/** The width of a face with its ring. */
const facePixels = 56;
const facesAround = 4;
/** Scrolling draws the strip anew in steps of so many pixels. */
const sightStep = 112;

export function CastStrip() {
  moment.value;
  const box = useRef(/** @type {HTMLDivElement|null} */ (null));
  const [sight, setSight] = useState({ left: 0, width: 900 });
  const [menu, setMenu] = useState(/** @type {{id: string, x: number, y: number}|null} */ (null));
  const wanted = useRef("");
  const now = view();
  const cast = useMemo(() => (now ? castOf(now) : []), [now, moment.value]);
  const last = now ? lastSpeaker(now.creatures) : "";
  const chosen = selection.value?.kind === "creature" ? selection.value.id : "";
  const read = chosen || last;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const look = () => {
      const next = { left: Math.floor(element.scrollLeft / sightStep) * sightStep, width: element.clientWidth };
      setSight((before) => (before.left === next.left && before.width === next.width ? before : next));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [cast.length === 0]);
  useEffect(() => show(box.current, cast.indexOf(read)), [read, cast.length]);
  useEffect(() => {
    const button = wanted.current && /** @type {HTMLElement|null|undefined} */ (box.current?.querySelector(`[data-id="${CSS.escape(wanted.current)}"]`));
    if (!button) return;
    wanted.current = "";
    button.focus({ preventScroll: true });
  });
  if (!now || !cast.length) return null;
  const first = Math.max(0, Math.floor(sight.left / facePixels) - facesAround);
  const end = Math.min(cast.length, Math.ceil((sight.left + sight.width + sightStep) / facePixels) + facesAround);
  const walker = cast.includes(read) ? read : cast[0];
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1, Home: -cast.length, End: cast.length }[event.key];
    if (by === undefined || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    const next = cast[Math.max(0, Math.min(cast.length - 1, cast.indexOf(walker) + by))];
    selection.value = { kind: "creature", id: next };
    wanted.current = next;
  };
  /** @param {string} id @param {number} x @param {number} y */
  const openMenu = (id, x, y) => {
    selection.value = { kind: "creature", id }; // What its menu does is seen on its line.
    setMenu({ id, x, y });
  };
  return html`<section class="strip" aria-label="Cast">
    <div class="strip-faces" ref=${box}>
      <ul onKeyDown=${onKeyDown} style=${{ paddingLeft: `${first * facePixels}px`, paddingRight: `${(cast.length - end) * facePixels}px` }}>
        ${cast.slice(first, end).map((id, at) => {
          const creature = now.creatures[id];
          const colour = now.graphs[creature.graph]?.colour ?? 0;
          return html`<li key=${id} class=${`of-${colour % 8}`} aria-setsize=${cast.length} aria-posinset=${first + at + 1}>
            <button type="button" data-id=${id} class=${id === read ? "is-read" : ""} tabindex=${id === walker ? 0 : -1} aria-pressed=${id === chosen} aria-label=${nameIn(id, creature)} title=${titleOf(creature)}
              onClick=${() => choose(id)} ...${onLongPress((x, y) => openMenu(id, x, y))}>
              <${Face} id=${creature.handle} colour=${`var(--g${colour % 8})`} size=${24} isOpen=${speaker.value === id} hasCrown=${creature.is_privileged} isJudge=${creature.role === "judge"} isDim=${!creature.is_running} />
              ${thinking.value[id] ? html`<i class="dots" aria-hidden="true"><i></i><i></i><i></i></i>` : null}${creature.error !== undefined ? html`<i class="trouble-dot"></i>` : null}
            </button></li>`;
        })}
      </ul>
    </div>
    ${menu && now.creatures[menu.id] ? html`<${Menu} label=${titleOf(now.creatures[menu.id])} x=${menu.x} y=${menu.y} items=${creatureItems(menu.id)} onClose=${() => setMenu(null)} />` : null}
  </section>`;
}

/** @param {string} id @param {import("page/apply").Creature} creature */
const nameIn = (id, creature) => `${titleOf(creature)}${thinking.value[id] ? ", thinks" : ""}${creature.error === undefined ? "" : ", its model did not answer"}`;

/** @param {string} id */
function choose(id) {
  selection.value = selection.value?.kind === "creature" && selection.value.id === id ? null : { kind: "creature", id };
}

/** Scroll just enough to show a whole face. @param {HTMLElement|null} box @param {number} at */
function show(box, at) {
  if (!box || at < 0) return;
  const [left, right] = [at * facePixels, (at + 1) * facePixels];
  if (left < box.scrollLeft) box.scrollLeft = left - facePixels / 2;
  else if (right > box.scrollLeft + box.clientWidth) box.scrollLeft = right + facePixels / 2 - box.clientWidth;
}
