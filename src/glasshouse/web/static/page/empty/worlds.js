// @ts-check
/** The worlds that can be played, as the empty page and the start dialog offer them: in their order, as cards, with what a start needs. */
import { html, useEffect, useRef } from "page/html";
import { isStill } from "page/address";
import { Face } from "page/face";
import { icon } from "page/icons";

/**
 * @typedef {{handle: string, title: string, role: string, bio: string, profile: string, team: string|null, is_privileged: boolean}} Member
 * @typedef {{name: string, title: string, where: string, synopsis: string, kind: string|null, shows: string, minutes: number|null, has_script: boolean, graphs: number, seed: string,
 *   seeds: string[], cast: Member[], limits: {[name: string]: number|null}|null, ending: string, profiles: string[], problem: string|null}} World
 */

const colours = [0, 5, 6, 4, 2, 3, 1, 7];
const facesShown = 6;
const randomSeeds = 10_000;
const kindIcons = /** @type {{[kind: string]: string}} */ ({ "several graphs": "merge", teams: "compare", contest: "judge", "growing cast": "plus", story: "line" });

/** A number that a play's chance comes from; always the same where tests look. */
export const freshSeed = () => (isStill ? 0 : 1 + Math.floor(Math.random() * randomSeeds));

/** The user's own worlds first, then those with the most graphs to watch; the others as they are listed. @param {World[]} worlds */
export const inOrder = (worlds) => [...worlds].sort((a, b) => Number(b.where === "here") - Number(a.where === "here") || b.graphs - a.graphs);

/** "1 minute", "9 minutes". @param {number} minutes */
export const minutesWords = (minutes) => `${minutes} minute${minutes === 1 ? "" : "s"}`;

/**
 * The worlds as cards, one of which is chosen. Arrow keys walk them.
 * @param {{worlds: World[]|null, chosen: string, onChoose: (world: World) => void, onOpen?: (world: World) => void, isFocused?: boolean}} props
 */
export function WorldCards({ worlds, chosen, onChoose, onOpen, isFocused = false }) {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const areThere = worlds !== null;
  useEffect(() => {
    if (isFocused) /** @type {HTMLElement|null|undefined} */ (box.current?.querySelector("input:checked"))?.focus();
  }, [areThere]);
  if (!worlds) return html`<div class="worlds is-coming" aria-hidden="true">${[0, 1, 2, 3].map(() => html`<div class="world"><i class="skeleton round"></i><i class="skeleton name"></i><i class="skeleton words"></i></div>`)}</div>`;
  return html`<fieldset class="worlds" ref=${box}><legend class="hidden">World</legend>
    ${worlds.map((world, number) => html`<label key=${world.name} class=${`world of-${colours[number % colours.length]}${world.problem ? " is-broken" : ""}`} title=${world.problem ?? undefined} onDblClick=${() => !world.problem && onOpen?.(world)}>
      <input type="radio" name="world" value=${world.name} checked=${world.name === chosen} disabled=${Boolean(world.problem)} aria-label=${wordsFor(world)} onChange=${() => onChoose(world)} />
      <span class="world-head"><span class="faces" aria-hidden="true">${facesFor(world).map(({ handle, is_privileged, role }) => html`<${Face} key=${handle} id=${handle} colour=${`var(--g${colours[number % colours.length]})`} size=${20} hasCrown=${is_privileged} isJudge=${role === "judge"} />`)}${world.cast.length > facesShown ? html`<small class="mono">+${world.cast.length - facesShown}</small>` : null}</span>
        <small class="mono" title=${creatureWords(world)}>${world.kind}</small></span>
      <b>${world.title}</b><span class="synopsis">${world.problem ?? world.synopsis}</span>
      ${world.problem ? null : html`<span class="shows">${icon(kindIcons[world.kind ?? ""] ?? "line", 14)}<span>${world.shows}</span><small title=${`About ${minutesWords(world.minutes ?? 0)} to read, offline`}>${world.minutes} min</small></span>`}
    </label>`)}
  </fieldset>`;
}

/** @param {World} world */
const creatureWords = ({ cast }) => `${cast.length} creature${cast.length === 1 ? "" : "s"}`;

/** A card, read aloud. @param {World} world */
const wordsFor = (world) => (world.problem ? `${world.title}: ${world.problem}` : `${world.title}. ${world.synopsis} ${world.shows}. ${world.kind}, ${creatureWords(world)}, about ${minutesWords(world.minutes ?? 1)}`);

/** Who stands for a world: everybody once, as far as there is room. @param {World} world */
const facesFor = (world) => [...new Map(world.cast.map((member) => [member.handle, member])).values()].slice(0, facesShown);
