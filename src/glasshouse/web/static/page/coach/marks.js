// @ts-check
/**
 * Three hints for whoever sees a play for the first time: drag the time, draw a line between two graphs, read minds.
 *
 * Always holds: one at a time, beside what it is about, never over the newest line. Each is shown until it is dismissed or done,
 * and then never again in this browser. Where tests look they stay away, unless the address asks for them (`coach=1`).
 */
import { effect, signal } from "@preact/signals";
import { html, useEffect, useLayoutEffect, useRef, useState } from "page/html";
import { isStill } from "page/address";
import { face } from "page/centre/faces";
import { hintDue, hints } from "page/coach/due";
import { icon } from "page/icons";
import { announce } from "page/toast";
import { canReadMinds, dialog, isDirector, isRecorded, isRewound, isSpeech, minds, moment, onRecord, panel, session, view } from "page/store";

const keptAs = "glasshouse.hints";
const away = 12;

const words = {
  time: { title: "Drag the time", text: "Pull the playhead to any event. Nothing is asked again, and End goes back to live.", icon: "turn", at: ".at-time .tracks" },
  draw: { title: "Draw a line between two graphs", text: "Pull from the edge of a face to a face of another graph. The two become one, and they hear each other.", icon: "merge", at: ".at-graph" },
  minds: { title: "Read minds", text: "T turns every card and shows what each of them thinks, privately.", icon: "thought", at: ".cast-head .button" },
};

const isAskedFor = new URLSearchParams(globalThis.location?.search ?? "").has("coach");
const seen = signal(kept());
const lines = signal(0);

/** @returns {Set<string>} */
function kept() {
  if (isStill && !isAskedFor) return new Set(hints.map(({ name }) => name));
  try {
    return new Set((localStorage.getItem(keptAs) ?? "").split(" ").filter(Boolean));
  } catch {
    return new Set();
  }
}

/** Show hints no more. @param {string[]} names */
function dismiss(names) {
  if (names.every((name) => seen.value.has(name))) return;
  seen.value = new Set([...seen.value, ...names]);
  try {
    localStorage.setItem(keptAs, [...seen.value].join(" "));
  } catch {
    // A browser that keeps nothing shows them again.
  }
}

/** Who has done it needs no hint. */
function watchDoing() {
  const ends = [
    effect(() => void (isRewound.value && dismiss(["time"]))),
    effect(() => void (minds.value && dismiss(["minds"]))),
    onRecord((record) => {
      if (isSpeech(record)) lines.value += 1;
    }),
  ];
  return () => ends.forEach((end) => end());
}

export function CoachMarks() {
  moment.value;
  useEffect(() => (seen.value.size < hints.length ? watchDoing() : undefined), []);
  const now = view();
  const said = now ? Object.values(now.creatures).filter(({ line }) => line).length : 0;
  const name = hintDue({
    seen: seen.value,
    lines: Math.max(lines.value, said),
    graphs: Object.keys(now?.graphs ?? {}).length,
    face: face.value,
    mayChange: isDirector.value && !session.value.isGuest && !isRecorded.value && !isRewound.value,
    mayRead: canReadMinds(),
    isCovered: !now || dialog.value !== null || panel.value !== "",
    places: new Set(hints.map(({ name: hint }) => hint).filter((hint) => seen.value.size < hints.length && document.querySelector(words[hint].at)?.getClientRects().length)),
  });
  return name ? html`<${Mark} key=${name} name=${name} />` : null;
}

/** @param {{name: import("page/coach/due").Hint}} props */
function Mark({ name }) {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const [isThere, setThere] = useState(false);
  const { title, text, icon: picture, at } = words[name];
  useLayoutEffect(() => {
    const place = () => {
      const mark = box.current;
      const target = document.querySelector(at)?.getBoundingClientRect();
      setThere(Boolean(target?.width));
      if (!mark || !target?.width) return;
      const [width, height] = [mark.offsetWidth, mark.offsetHeight];
      const spot = {
        time: { x: target.left + target.width / 2 - width / 2, y: target.top - height - away - 44 },
        draw: { x: target.left + away, y: target.bottom - height - away - 40 },
        minds: { x: target.right - width, y: target.top - height - away },
      }[name];
      mark.style.left = `${Math.max(8, Math.min(spot.x, innerWidth - width - 8))}px`;
      mark.style.top = `${Math.max(8, Math.min(spot.y, innerHeight - height - 8))}px`;
    };
    place();
    addEventListener("resize", place);
    return () => removeEventListener("resize", place);
  });
  useEffect(() => {
    announce(`Hint: ${title}. ${text}`);
    /** @param {KeyboardEvent} event */
    const onKeyDown = (event) => {
      if (event.key !== "Escape" || dialog.value) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      dismiss([name]);
    };
    // Before the page's own keys: Escape closes the hint first.
    addEventListener("keydown", onKeyDown, true);
    return () => removeEventListener("keydown", onKeyDown, true);
  }, [name]);
  return html`<aside ref=${box} class=${`coach is-${name}${isThere ? "" : " is-away"}`} aria-label="Hint">
    <h3>${icon(picture, 14)}<span>${title}</span><small class="mono">${hints.findIndex((hint) => hint.name === name) + 1} of ${hints.length}</small></h3>
    <p>${text}</p>
    <div><button type="button" class="text-button" onClick=${() => dismiss(hints.map((hint) => hint.name))}>No more hints</button>
      <button type="button" class="button small primary" onClick=${() => dismiss([name])}><span>Got it</span><kbd aria-hidden="true">Esc</kbd></button></div>
  </aside>`;
}
