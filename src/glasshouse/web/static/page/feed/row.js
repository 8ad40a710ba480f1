// @ts-check
/** One row of the feed. */
import { html, memo } from "page/html";
import { icon } from "page/icons";
import { short } from "page/ui";
import { graphColour } from "page/colours";
import { headView, record } from "page/store";
import { wasHandle } from "page/feed/handles";
import { wordsOf } from "page/feed/kinds";
import { Part } from "page/on_demand";

/** @typedef {import("page/apply").Record} Record */

/** Whether a word is the handle of a creature, or the name of a graph. @param {string} word */
const isHandle = (word) => {
  const story = headView();
  if (!story || word in story.creatures || wasHandle(word)) return story !== null;
  const isGraph = Object.values(story.lanes).some((lane) => lane.name === word);
  return isGraph || (word.includes("-") && Object.values(story.creatures).some((creature) => creature.handle === word));
};

/** A row whose creature also does the other: it listens and speaks. @param {string} text */
const withBoth = (text) => text.replace(/(listens|speaks) here$/, text.startsWith("no ") ? "listens or speaks here" : "listens and speaks here");

const charsShown = 240;
const charsBeforeMatch = 24;

/** A text of one line, with the words that were looked for in sight. @param {string} text @param {string} words */
function marked(text, words) {
  const at = words ? text.toLowerCase().indexOf(words.toLowerCase()) : -1;
  if (at < 0) return text.slice(0, charsShown);
  const from = at > charsBeforeMatch * 1.5 ? text.lastIndexOf(" ", at - charsBeforeMatch) + 1 : 0;
  const end = at + words.length;
  return html`${from ? "…" : null}${text.slice(from, at)}<mark>${text.slice(at, end)}</mark>${text.slice(end, end + charsShown)}`;
}

/**
 * @param {{record: Record, words: string, isDouble: boolean, colour: number, isCompact: boolean, isNow: boolean, isSelected: boolean, isOpen: boolean, isActive: boolean,
 *   onToggle: (k: number) => void, onHeight: (k: number, height: number) => void}} props
 */
function draw({ record, words, isDouble, colour, isCompact, isNow, isSelected, isOpen, isActive, onToggle, onHeight }) {
  const { row, k } = record;
  const { title, beside, text, isVoiced } = wordsOf(record, isHandle);
  const isScene = row.icon === "world" && row.actor === "world";
  const classes = ["feed-row", `is-${row.icon}`, isCompact ? "is-compact" : "", isNow ? "is-now" : "", isSelected ? "is-selected" : "", isOpen ? "is-open" : "", isScene ? "is-scene" : "", isVoiced ? "is-voice" : ""];
  return html`<div class=${classes.filter(Boolean).join(" ")} data-k=${k} style=${{ "--graph": graphColour(colour), "--wash": `var(--g${colour % 8}-wash)` }}>
    <button type="button" class="feed-head" aria-expanded=${isOpen} aria-current=${isNow ? "true" : undefined} tabindex=${isActive ? 0 : -1} onClick=${() => onToggle(k)}>
      <span class="feed-tile">${icon(row.icon, 12)}</span>
      <span class="feed-who"><b dir="auto">${title}</b>${beside ? html`<span dir="auto">${isCompact ? " " : " · "}${beside}</span>` : null}</span>
      <span class="feed-text" dir="auto">${marked(isDouble ? withBoth(text) : text, words)}</span>
      <span class="feed-number"><span class="hidden">event </span>${k}</span>
    </button>
    ${isOpen ? html`<${Part} name="details" given=${{ record, onHeight }} />` : null}
  </div>`;
}

export const Row = memo(draw);

/** "turn 7". @param {{k: number}} props */
function drawTurn({ k }) {
  return html`<div class="feed-turn"><span>turn ${record(k)?.row.turn ?? ""}</span></div>`;
}

export const Turn = memo(drawTurn);

/** @param {{k: number, last: number, isOpen: boolean, isActive: boolean, isNow: boolean, onFold: (k: number) => void}} props */
function drawFold({ k, last, isOpen, isActive, isNow, onFold }) {
  const count = last - k + 1;
  const words = record(k)?.row.turn === 0 ? "of setting up" : "behind the scenes";
  return html`<div class=${`feed-fold${isOpen ? " is-open" : ""}${isNow ? " is-now" : ""}`} data-k=${k}>
    <button type="button" aria-expanded=${isOpen} tabindex=${isActive ? 0 : -1} onClick=${() => onFold(k)}>
      ${icon("chevron", 12)}<span>${count === 1 ? "One event" : `${short(count)} events`} ${words}</span><i>${count === 1 ? k : `${k}–${last}`}</i>
    </button>
  </div>`;
}

export const Fold = memo(drawFold);
