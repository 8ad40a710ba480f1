// @ts-check
/** A creature's card: in front what everybody hears, on its back what it thinks, where the role may read that. */
import { html, memo } from "page/html";
import { nameOf } from "page/apply";
import { Face } from "page/face";
import { icon } from "page/icons";
import { harmless } from "page/plain";
import { flip, selection } from "page/store";

/**
 * @typedef {{id: string, creature: import("page/apply").Creature, colour: number, isBack: boolean, canRead: boolean, isChosen: boolean,
 *   isLast: boolean, isSpeaking: boolean, isThinking: boolean, elapsed: string, progress: string, words: string, queue: number, isWalked: boolean,
 *   kind: import("page/stage/rows").Kind, place: string, to: string, position: number, count: number, step: number}} Props
 * @param {Props} props
 */
function draw(props) {
  const { id, creature, colour, isBack, canRead, isChosen, isLast, isSpeaking, isWalked, position, count, step, kind } = props;
  const name = harmless(creature.title ?? nameOf(creature.handle));
  const classes = ["card", `is-${kind}`, `of-${colour % 8}`, isBack && "is-back", isChosen && "is-chosen", isLast && "is-last", isSpeaking && "is-speaking", !creature.is_running && "is-stopped", step > 0 && "is-on-path"];
  return html`<li class=${classes.filter(Boolean).join(" ")} aria-setsize=${count} aria-posinset=${position}>
    <button type="button" class="turning" data-id=${id} tabindex=${isWalked ? 0 : -1} aria-pressed=${isChosen} onClick=${() => choose(id)} onKeyDown=${(/** @type {KeyboardEvent} */ event) => flipByKey(event, id, canRead)}>
      <span class="side front" aria-hidden=${isBack}>${Front(props, name)}</span>
      ${canRead && kind !== "row" ? html`<span class="side back" aria-hidden=${!isBack}>${Back(props, name)}</span>` : null}
    </button>
    ${canRead ? html`<button type="button" class="mind" tabindex=${isWalked ? 0 : -1} aria-pressed=${isBack} aria-label=${`Read the mind of ${name}`} title="Read mind (Enter)" onClick=${() => flip(id)}>${icon("thought", 14)}</button>` : null}
  </li>`;
}

export const Card = memo(draw);

/** @param {string} id */
function choose(id) {
  selection.value = selection.value?.id === id ? null : { kind: "creature", id };
}

/** @param {KeyboardEvent} event @param {string} id @param {boolean} canRead */
function flipByKey(event, id, canRead) {
  if (event.key !== "Enter" || !canRead) return;
  event.preventDefault();
  flip(id);
}

/** @param {Props} props */
function Portrait({ creature, colour, isSpeaking, step, kind }) {
  return html`<span class="portrait"><${Face} id=${creature.handle} colour=${`var(--g${colour % 8})`} size=${kind === "row" ? 20 : 30} isOpen=${isSpeaking} hasCrown=${creature.is_privileged} isDim=${!creature.is_running} />
    ${creature.error !== undefined ? html`<i class="trouble-dot"></i>` : null}${step ? html`<i class=${`step mono${step === 1 ? " is-first" : ""}`} title="Its place on the path that is shown">${step}</i>` : null}</span>`;
}

/** @param {Props} props @param {string} name */
function Front(props, name) {
  const { creature } = props;
  const { mood, line, error } = creature;
  return html`${Portrait(props)}
    <span class="who"><b dir="auto">${name}</b>${creature.role === "judge" ? html`<span class="balance">${icon("judge", 14)}</span>` : null}${Doing(props)}${mood ? html`<span class="mood" dir="auto">${harmless(mood)}</span>` : null}</span>
    ${props.words ? html`<span class="line is-coming" dir="auto">${harmless(props.words)}</span>` : null}
    ${!props.words && error !== undefined ? html`<span class="line is-error" dir="auto">${harmless(error) || "Its model did not answer."}</span>` : null}
    ${!props.words && error === undefined ? html`<span class=${`line${line?.text ? "" : " is-none"}`} dir="auto">${harmless(line?.text ?? "") || "Has not spoken yet."}</span>` : null}
    ${props.kind === "open" && line ? html`<span class="card-foot"><span dir="auto">${props.to}</span><span class="mono">${line.n}</span></span>` : null}`;
}

/** What a creature does now; while it does nothing, who it is. @param {Props} props */
function Doing({ creature, isThinking, elapsed, progress, queue, kind, place }) {
  if (!creature.is_running) return html`<span class="doing">stopped</span>`;
  if (creature.tool) return html`<span class="doing">${icon("tool", 12)} uses ${harmless(creature.tool)}</span>`;
  if (isThinking && queue) return html`<span class="doing">in line: ${queue}</span>`;
  if (isThinking) {
    return html`<span class="doing"><i class="dots" aria-hidden="true"><i></i><i></i><i></i></i><span class="hidden">thinks</span>${elapsed ? html`<span class="mono">${elapsed}</span>` : null}${progress ? html`<span>${progress}</span>` : null}</span>`;
  }
  const owed = creature.owes?.count ?? 0;
  if (owed) return html`<span class="doing" title="It heard something that it has not answered yet">${owed === 1 ? "will answer" : `will answer ${owed} lines`}</span>`;
  if (creature.role === "judge") return html`<span class="bio is-judge" title=${harmless(creature.bio ?? "")}>judge</span>`;
  if (kind === "row") return html`<span class="bio is-place" dir="auto">${place}</span>`;
  const about = creature.bio || { narrator: "Narrator", root: "Root" }[creature.role] || "";
  return html`<span class="bio" title=${harmless(about)} dir="auto">${harmless(about)}</span>`;
}

/** @param {Props} props @param {string} name */
function Back(props, name) {
  const { creature } = props;
  const model = creature.model ?? creature.profile;
  return html`${Portrait(props)}
    <span class="who"><b dir="auto">${name}</b><span class="bio">thinks, privately</span>${model ? html`<span class="mood mono">${harmless(model)}</span>` : null}</span>
    <span class=${`line is-thought${creature.thought ? "" : " is-none"}`} dir="auto">${harmless(creature.thought ?? "") || "Nothing that it keeps to itself."}</span>`;
}
