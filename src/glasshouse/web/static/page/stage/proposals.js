// @ts-check
/** Changes that creatures propose and that wait for a yes from outside. */
import { html } from "page/html";
import { nameOf } from "page/apply";
import { icon } from "page/icons";
import { harmless } from "page/plain";
import { answerProposal } from "page/commands";
import { isDirector, isLive, moment, view } from "page/store";
import { Button } from "page/ui";

export function Proposals() {
  moment.value;
  const { approvals = {}, creatures = {} } = view() ?? {};
  const waiting = Object.entries(approvals);
  if (!waiting.length) return null;
  return html`<ul class="proposals" aria-label="Proposals that wait for an answer">
    ${waiting.map(([id, { creature, tool, why }]) => html`<li key=${id}>${icon("approval", 14)}<span><b>${harmless(creatures[creature]?.title ?? nameOf(creature))}</b> asks whether it may ${toolWords(tool)}. <small dir="auto">${harmless(why)}</small></span>
      ${isDirector.value && isLive.value ? html`<span class="answers"><${Button} label="Allow" onClick=${() => answerProposal(creature, true)} /><${Button} label="Refuse" kind="quiet" onClick=${() => answerProposal(creature, false)} /></span>` : null}
    </li>`)}
  </ul>`;
}

/** "group_add_node" is "add node". @param {string} tool */
const toolWords = (tool) => tool.replace(/^group_/, "").replaceAll("_", " ");
