// @ts-check
/** What a line says in fields of its kind: yes filled, no outlined, unsure dashed, each with its icon; and words of its own. */
import { html } from "page/html";
import { icon } from "page/icons";
import { answerIn, detailsIn } from "page/teams/turns";

const icons = { yes: "check", no: "close", unsure: "question" };

/** @param {{answer: string}} props yes, no or unsure */
export const Answer = ({ answer }) => html`<span class=${`teams-answer is-${answer}`}>${icon(icons[/** @type {keyof typeof icons} */ (answer)], 12)}${answer}</span>`;

/** @param {{fields: import("page/teams/turns").Fields}} props */
export function Marks({ fields }) {
  const answer = answerIn(fields);
  const details = detailsIn(fields);
  if (!answer && !details.length) return null;
  return html`<span class="teams-marks">${details.map(({ name, value }) => html`<span class="teams-detail"><small>${name}</small> <b dir="auto">${value}</b></span>`)}${answer ? html`<${Answer} answer=${answer} />` : null}</span>`;
}
