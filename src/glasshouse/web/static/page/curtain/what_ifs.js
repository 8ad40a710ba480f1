// @ts-check
/** What can be played next: a branch at a turning point, in one click; the same world again; another one. */
import { html, useEffect, useState } from "page/html";
import { isStill } from "page/address";
import { nameOf } from "page/apply";
import { growBranch } from "page/branching";
import { post } from "page/commands";
import { pointWords } from "page/curtain/words";
import { numberHere } from "page/feed/numbers";
import { icon } from "page/icons";
import { harmless } from "page/plain";
import { headView, numberOf, open, openDialog, run } from "page/store";
import { Button } from "page/ui";

/** @typedef {import("page/curtain/words").TurningPoint} TurningPoint */

const randomSeeds = 10_000;

/** @param {{told: import("page/curtain/words").Curtain}} props */
export function WhatIfs({ told }) {
  const [isSending, setSending] = useState(false);
  const grow = async (/** @type {TurningPoint} */ point, /** @type {number} */ k, /** @type {string} */ name) => {
    if (isSending) return;
    setSending(true);
    await growBranch({ ...(point.drop ? { drop: true } : {}), ...(point.disturb ? { disturb: point.disturb } : {}), play: true }, { at: point.at, k: point.drop ? k - 1 : k, name });
    setSending(false);
  };
  return html`<section aria-label="What if?"><h3 class="curtain-question">What if?</h3><p>This play stays as it is. Each of these begins another.</p>
    <div class="curtain-points">${told.what_ifs.map((point) => html`<${Point} key=${point.what} point=${point} cited=${told.rests_on.length} isSending=${isSending} onGrow=${grow} />`)}</div>
    <div class="curtain-buttons"><${Button} label="Somewhere else" icon="branch" kbd="B" onClick=${() => openDialog("branch")} /></div></section>`;
}

/** @param {{point: TurningPoint, cited: number, isSending: boolean, onGrow: (point: TurningPoint, k: number, name: string) => void}} props */
function Point({ point, cited, isSending, onGrow }) {
  const [k, setK] = useState(() => numberHere(point.at));
  useEffect(() => void (k || numberOf(point.at).then(setK)), [point.at]);
  const name = point.who ? harmless(nameOf(point.who, headView() ?? undefined)) : "";
  const { icon: picture, title, hint } = pointWords(point, name, k, cited);
  return html`<button type="button" class="curtain-point" aria-disabled=${isSending || undefined} onClick=${() => onGrow(point, k, title)}>
    ${icon(picture, 20)}<span><b dir="auto">${harmless(title)}</b><small>${hint}</small></span></button>`;
}

/** The same world once more, with other luck; or another world. @param {{told: import("page/curtain/words").Curtain}} props */
export function OtherPlays({ told }) {
  const [isSending, setSending] = useState(false);
  const again = async () => {
    setSending(true);
    const seed = run()?.seed;
    const begun = await post("runs", { world: told.world, ...(seed ? { seed } : {}), rng_seed: isStill ? 1 : 1 + Math.floor(Math.random() * randomSeeds) });
    setSending(false);
    if (begun) void open(begun.id, { isStep: true });
  };
  return html`<section class="curtain-buttons is-last" aria-label="Other plays">
    ${told.world ? html`<${Button} label="Play again" icon="turn" onClick=${() => void again()} isDisabled=${isSending} title="The same world from the same words, with other luck" />` : null}
    <${Button} label="Another world" onClick=${() => openDialog("start")} /></section>`;
}
