// @ts-check
/** The buttons under the thumb: pause, the next line with the ring of its reading time, and disturb. */
import { html, useState } from "page/html";
import { canPlayOn, canReplay, canSkip, playOn, playOrPause, skip } from "page/actions";
import { play, step } from "page/commands";
import { nameOf } from "page/apply";
import { icon } from "page/icons";
import { harmless } from "page/plain";
import { driver, head, headView, isDirector, isRecorded, isRewound, moment, openDialog, run, status, thinking } from "page/store";
import { useSeconds } from "page/stage/cast";
import { playing, speakerOf } from "page/time/panel";

export function ThumbRow() {
  moment.value;
  if (!run()) return null;
  return html`<section class="thumb-row" aria-label="Play">
    <${PauseButton} />
    <${NextButton} />
    ${isDirector.value && !isRecorded.value
      ? html`<button type="button" class="button thumb-right" onClick=${() => openDialog("disturb")}>${icon("bolt")}<span>Disturb</span></button>`
      : html`<button type="button" class="button thumb-right" onClick=${() => openDialog("share")}>${icon("share")}<span>Share</span></button>`}
  </section>`;
}

/** Pause or play: of the run while live, of the replay while rewound. Whoever only watches has none while the run plays. */
export function PauseButton() {
  moment.value;
  const { isAtWork, canPlay, label } = playing();
  if (!canPlay) return null;
  const isAlone = canReplay() && !isRewound.value && !canPlayOn();
  return html`<button type="button" class=${`button thumb-pause${isAlone ? " primary is-wide" : ""}`} aria-label=${label} title=${label} disabled=${!head.value} onClick=${playOrPause}>
    ${icon(isAtWork ? "pause" : "play", 20)}${isAlone ? html`<span>Replay</span>` : null}</button>`;
}

/** What leads on: to the next line, by one turn while the run is paused, or in a child of a run that is over. */
export function NextButton() {
  moment.value;
  const [isFocused, setFocused] = useState(false);
  const { label, run: go, isDisabled } = nextStep();
  const wait = waitNow();
  if (!label) return wait.words ? html`<p class="thumb-words">${wait.words}</p>` : null;
  // The seconds are told to who asks for them, and not to who hears the button change each second.
  const name = isFocused && wait.seconds ? `${label}, ${wait.seconds} ${wait.seconds === 1 ? "second" : "seconds"} left` : label;
  return html`<button type="button" class="button primary thumb-next" aria-label=${name} disabled=${isDisabled} onClick=${go} onFocus=${() => setFocused(true)} onBlur=${() => setFocused(false)}>
    <${Wait} wait=${wait} /><span>${label}</span></button>`;
}

/** @returns {{label: string, run: () => void, isDisabled?: boolean}} */
function nextStep() {
  if (canSkip()) return { label: "Next", run: () => void skip() };
  if (canPlayOn()) return { label: "Play on", run: () => void playOn() };
  if (!isDirector.value || isRecorded.value) return { label: "", run: () => {} };
  if (status.value === "live") return { label: "Read along", run: () => void play("reading") };
  return { label: "One turn", run: () => void step(), isDisabled: status.value !== "paused" };
}

/** @typedef {{words: string, left: number|null, seconds: number, thinks: string}} Waiting */

/** What the next line waits for: a line that is read, or a model that thinks. @returns {Waiting} */
function waitNow() {
  const nothing = { words: status.value === "paused" ? "The play is paused." : "", left: null, seconds: 0, thinks: "" };
  if (isRewound.value || status.value !== "live") return nothing;
  const reading = driver.value?.reading;
  if (reading) {
    const { seconds, seconds_left: left, event_id: line } = reading;
    return { words: `Reading ${speakerOf(line)}, ${left} s`, left: Math.min(1, left / seconds), seconds: left, thinks: "" };
  }
  const [first] = Object.keys(thinking.value);
  if (!first) return { ...nothing, words: "The next line is on its way." };
  const view = headView();
  return { words: `${harmless(nameOf(view?.creatures[first]?.handle ?? first, view))} thinks`, left: null, seconds: 0, thinks: thinking.value[first]?.since ?? "" };
}

/** The ring of a line that is read; three dots and the time of a model that thinks. @param {{wait: Waiting}} props */
function Wait({ wait }) {
  const now = useSeconds();
  if (wait.left !== null) return html`<i class="thumb-ring" style=${{ "--left": wait.left }} aria-hidden="true"></i>`;
  if (!wait.thinks) return null;
  return html`<span class="thumb-thinks" aria-hidden="true"><i class="dots"><i></i><i></i><i></i></i><span class="mono">${Math.max(0, Math.floor((now - Date.parse(wait.thinks)) / 1000))} s</span></span>`;
}
