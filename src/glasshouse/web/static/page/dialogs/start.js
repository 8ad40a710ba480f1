// @ts-check
/** The start dialog: which world is played, from which words, within which limits and by which models. */
import { html, useEffect, useMemo, useRef, useState } from "page/html";
import { Editor, isEdited, noEdits, useProblems } from "page/dialogs/start_edit";
import { startPlay } from "page/empty/start";
import { freshSeed, inOrder, WorldCards } from "page/empty/worlds";
import { Face } from "page/face";
import { icon } from "page/icons";
import { closeDialog, openDialog, source } from "page/store";
import { openStudio } from "page/studio/open";
import { Button, Dialog, Field } from "page/ui";

/**
 * @typedef {import("page/empty/worlds").World} World
 * @typedef {{size: string, model: string|null, is_local: boolean|null, is_free: boolean|null, usd_per_million: {input: number, output: number}|null, problem: string|null}} Size
 * @typedef {{sizes: Size[], names: string[]}} Models
 * @typedef {{world: string, seed: string, rng_seed: string, turns: string, tokens: string, usd: string, models: {[handle: string]: string}, speed: string, alone: boolean,
 *   edits: import("page/dialogs/start_edit").Edits}} Choice
 */

const estimateMilliseconds = 400;
const seedCharsMax = 200;

/** @param {{world?: string}} props the world that is chosen at first */
export function Start({ world: wanted }) {
  const [worlds, setWorlds] = useState(/** @type {World[]|null} */ (null));
  const [models, setModels] = useState(/** @type {Models} */ ({ sizes: [], names: [] }));
  const [choice, setChoice] = useState(/** @type {Choice} */ ({ world: "", seed: "", rng_seed: String(freshSeed()), turns: "", tokens: "", usd: "", models: {}, speed: "reading", alone: false, edits: noEdits() }));
  const [problem, setProblem] = useState("");
  const [isStarting, setStarting] = useState(false);
  const load = (/** @type {string|undefined} */ name = wanted) => {
    setProblem("");
    Promise.all([source().worlds(), source().models()]).then(
      ([found, known]) => {
        const sorted = inOrder(found);
        setWorlds(sorted);
        setModels(known);
        const first = sorted.find((world) => world.name === name && !world.problem) ?? sorted.find((world) => !world.problem);
        if (first) setChoice((before) => ({ ...before, ...chosen(first), seed: before.seed || first.seed })); // What was typed meanwhile stays.
      },
      (wrong) => setProblem(wrong.message),
    );
  };
  useEffect(() => load(), []);
  const world = worlds?.find(({ name }) => name === choice.world);
  const wrong = wrongIn(choice);
  const { problems, isSound } = useProblems(world?.name, choice.edits);
  const change = (/** @type {Partial<Choice>} */ parts) => {
    setProblem("");
    setChoice((before) => ({ ...before, ...parts }));
  };
  const begin = async () => {
    if (!world || isStarting || Object.keys(wrong).length) return;
    setStarting(true);
    try {
      await startPlay(requestOf(choice, { withSpeed: true }));
    } catch (refused) {
      setProblem(refused instanceof Error ? refused.message : String(refused));
      setStarting(false);
    }
  };
  const footer = html`<div class="start-words"><${Cost} choice=${choice} isSound=${Boolean(world) && !Object.keys(wrong).length && isSound} /><small>Stops by itself at the first limit it reaches.</small></div>
    <${Button} label="Open in the studio" isDisabled=${!choice.world} onClick=${() => (closeDialog(), openStudio(choice.world))} />
    <${Button} label="Open the archive" onClick=${() => openDialog("archive")} />
    <${Button} label="Start the play" kind="primary" kbd="Enter" type="submit" onClick=${() => {}} isDisabled=${!world || isStarting || problems.length > 0} />`;
  return html`<${Dialog} id="start" title="What shall they play tonight?" width=${960} isBlurred onSubmit=${begin} footer=${footer}>
    <${WorldCards} worlds=${worlds} chosen=${choice.world} onChoose=${(/** @type {World} */ next) => change(chosen(next))} isFocused />
    ${worlds === null && problem ? html`<p><${Button} label="Try again" onClick=${() => load()} /></p>` : null}
    <${Seed} world=${world} seed=${choice.seed} onChange=${(/** @type {string} */ seed) => change({ seed })} onStart=${begin} />
    <div class="start-row">
      <${Amount} label="Turns" name="turns" choice=${choice} wrong=${wrong.turns} usual=${world?.limits?.max_turns} change=${change} />
      <${Amount} label="Tokens" name="tokens" choice=${choice} wrong=${wrong.tokens} usual=${world?.limits?.max_total_tokens} change=${change} />
      <${Amount} label="Spend limit" name="usd" choice=${choice} wrong=${wrong.usd} usual=${world?.limits?.max_total_usd} change=${change} unit="$" title="For the whole play" />
      <${Who} world=${world} models=${models} choice=${choice} />
    </div>
    ${world ? html`<${Editor} key=${world.name} world=${world} edits=${choice.edits} problems=${problems} models=${choice.models} sizes=${models.sizes} request=${() => requestOf(choice)} onSaved=${load}
      onChange=${(/** @type {import("page/dialogs/start_edit").Edits} */ edits) => change({ edits })} onModel=${(/** @type {string} */ handle, /** @type {string} */ model) => change({ models: { ...choice.models, [handle]: model } })} />` : null}
    <${More} world=${world} models=${models} choice=${choice} wrong=${wrong} change=${change} />
    ${problem ? html`<p class="start-problem" role="alert">${icon("error")}<span>${problem}</span></p>` : null}
  <//>`;
}

/** What a world suggests. @param {World} world @returns {Partial<Choice>} */
const chosen = (world) => ({
  world: world.name,
  seed: world.seed,
  turns: shownAs(world.limits?.max_turns),
  tokens: shownAs(world.limits?.max_total_tokens),
  usd: shownAs(world.limits?.max_total_usd),
  models: {},
  edits: noEdits(),
});

/** @param {number|null|undefined} value */
const shownAs = (value) => (value === null || value === undefined ? "" : value.toLocaleString("en-US"));
/** "$1,000" is 1000; undefined if nothing is written; NaN if it is no number. @param {string} text */
const numberIn = (text) => (text.trim() === "" ? undefined : Number(text.replace(/[$,_\s]/g, "")));

/** What is wrong with a choice, by field. @param {Choice} choice @returns {{[name: string]: string}} */
function wrongIn(choice) {
  /** @type {{[name: string]: string}} */
  const wrong = {};
  for (const name of /** @type {const} */ (["turns", "tokens"])) {
    const value = numberIn(choice[name]);
    if (value !== undefined && !(Number.isInteger(value) && value > 0)) wrong[name] = "A whole number above 0";
  }
  const usd = numberIn(choice.usd);
  if (usd !== undefined && !(usd >= 0)) wrong.usd = "An amount such as 0.10";
  const rng = numberIn(choice.rng_seed);
  if (rng === undefined || !(Number.isSafeInteger(rng) && rng >= 0)) wrong.rng_seed = "A whole number";
  return wrong;
}

/** @param {Choice} choice @param {{withSpeed?: boolean}} [how] */
function requestOf(choice, how = {}) {
  const limits = { max_turns: numberIn(choice.turns), max_total_tokens: numberIn(choice.tokens), max_total_usd: numberIn(choice.usd) };
  const models = Object.fromEntries(Object.entries(choice.models).filter(([, model]) => model.trim()));
  const { world, seed, speed, alone, edits } = choice;
  return { world, ...(seed ? { seed } : {}), rng_seed: numberIn(choice.rng_seed), limits, models, ...(isEdited(edits) ? { edits } : {}), ...(how.withSpeed ? { speed, ...(alone ? { continue_alone: true } : {}) } : {}) };
}

/** @param {{world: World|undefined, seed: string, onChange: (seed: string) => void, onStart: () => void}} props */
function Seed({ world, seed, onChange, onStart }) {
  const others = world?.seeds ?? [];
  const next = others[(others.indexOf(seed) + 1) % others.length];
  return html`<div class="field"><span class="field-head"><label for="start-seed">Seed text</label>${others.length > 1 ? html`<button type="button" class="text-button" onClick=${() => onChange(next)}>Another one</button>` : null}</span>
    <textarea id="start-seed" rows="2" maxlength=${seedCharsMax} dir="auto" placeholder="What the play grows from" value=${seed} onInput=${(/** @type {any} */ event) => onChange(event.target.value)}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Enter" && !event.shiftKey && !event.isComposing && (event.preventDefault(), onStart())}></textarea>
  </div>`;
}

/** @param {{label: string, name: "turns"|"tokens"|"usd"|"rng_seed", choice: Choice, wrong?: string, usual?: number|null, unit?: string, title?: string, change: (parts: Partial<Choice>) => void}} props */
function Amount({ label, name, choice, wrong, usual, unit = "", title, change }) {
  const empty = usual ? `${unit}${shownAs(usual)}` : "no limit";
  return html`<${Field} label=${label}>
    <input type="text" inputmode="decimal" autocomplete="off" title=${title} value=${choice[name] && unit && !choice[name].startsWith(unit) ? `${unit}${choice[name]}` : choice[name]} placeholder=${empty} aria-invalid=${wrong ? "true" : undefined}
      onInput=${(/** @type {any} */ event) => change({ [name]: event.target.value })} />
    ${wrong ? html`<small class="is-wrong" role="alert">${wrong}</small>` : null}
  <//>`;
}

/** The sizes that a cast uses, with what plays them. @param {World|undefined} world @param {Models} models */
const sizesOf = (world, models) => models.sizes.filter(({ size }) => world?.profiles.includes(size));

/** @param {{world: World|undefined, models: Models, choice: Choice}} props */
function Who({ world, models, choice }) {
  const names = [...new Set(sizesOf(world, models).map(({ model, size }) => model ?? `no model for ${size}`))];
  const own = Object.values(choice.models).filter((model) => model.trim()).length;
  const words = [names.join(", ") || "…", own ? `${own} chosen` : ""].filter(Boolean).join(" + ");
  const box = useRef(/** @type {HTMLButtonElement|null} */ (null));
  const unfold = () => {
    const more = /** @type {HTMLDetailsElement|null} */ (box.current?.closest("form")?.querySelector("details.more"));
    if (!more) return;
    more.open = true;
    more.scrollIntoView({ block: "nearest" });
    more.querySelector("input")?.focus();
  };
  return html`<div class="field"><span id="start-models">Models</span><button ref=${box} type="button" class="input as-field" aria-labelledby="start-models start-models-words" onClick=${unfold}><span id="start-models-words">${words}</span>${icon("chevron", 12)}</button></div>`;
}

/** @param {{world: World|undefined, models: Models, choice: Choice, wrong: {[name: string]: string}, change: (parts: Partial<Choice>) => void}} props */
function More({ world, models, choice, wrong, change }) {
  const sizes = sizesOf(world, models);
  const missing = sizes.filter(({ problem }) => problem);
  const isPriced = sizes.some(({ is_free }) => is_free === false) || Object.values(choice.models).some((model) => model.trim() && !model.startsWith("offline"));
  return html`${missing.map(({ size, problem }) => html`<p class="start-problem">${icon("error")}<span>Nothing plays the size ${size} here: ${problem}</span></p>`)}
    ${isPriced ? html`<label class="switch"><input type="checkbox" checked=${choice.alone} onChange=${(/** @type {any} */ event) => change({ alone: event.target.checked })} />
      <span>Continue alone<small>Otherwise the run pauses when no director has looked on for a minute, since its models cost money</small></span></label>` : null}
    <details class="more"><summary>A model per creature, speed and random seed</summary>
      <div class="start-row two">
        <${Field} label="Speed"><select value=${choice.speed} onChange=${(/** @type {any} */ event) => change({ speed: event.target.value })}><option value="reading">Reading: each line stands as long as it takes to read</option><option value="fast">Fast: as fast as the models answer</option></select><//>
        <${Amount} label="Random seed" name="rng_seed" choice=${choice} wrong=${wrong.rng_seed} usual=${0} change=${change} />
      </div>
      <p class="sizes">${sizes.map(({ size, model, is_local, is_free, usd_per_million: price }) => html`<span class="chip"><span class="mono">${size}</span> is <span class="mono">${model ?? "nobody"}</span>${model ? html`<small>${[is_local ? "local" : "remote", is_free ? "free" : price ? `$${price.input} in, $${price.output} out a million` : "price unknown"].join(", ")}</small>` : null}</span>`)}</p>
      <datalist id="start-names">${models.names.map((name) => html`<option value=${name}></option>`)}</datalist>
      <ul class="model-rows">${(world?.cast ?? []).map((member) => html`<li key=${`${world?.name}.${member.handle}`}><label>
        <${Face} id=${member.handle} colour="var(--g0)" size=${22} hasCrown=${member.is_privileged} /><span>${member.title}</span>
        <input class="input" list="start-names" autocomplete="off" spellcheck="false" placeholder=${`${member.profile}: ${models.sizes.find(({ size }) => size === member.profile)?.model ?? "nobody"}`}
          value=${choice.models[member.handle] ?? ""} onInput=${(/** @type {any} */ event) => change({ models: { ...choice.models, [member.handle]: event.target.value } })} /></label></li>`)}
      </ul>
    </details>`;
}

/** What the play will probably cost, in the server's words. @param {{choice: Choice, isSound: boolean}} props */
function Cost({ choice, isSound }) {
  const [cost, setCost] = useState({ says: "", isWrong: false });
  const asked = useMemo(() => JSON.stringify(requestOf(choice)), [choice]);
  useEffect(() => {
    if (!isSound) return undefined;
    let isOld = false;
    const timer = setTimeout(async () => {
      try {
        const { says } = await source().post("estimate", JSON.parse(asked));
        if (!isOld) setCost({ says, isWrong: false });
      } catch (wrong) {
        if (!isOld) setCost({ says: wrong instanceof Error ? wrong.message : String(wrong), isWrong: true });
      }
    }, estimateMilliseconds);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [asked, isSound]);
  return html`<span class=${cost.isWrong ? "is-wrong" : ""} aria-live="polite">${cost.says || "Expected cost: …"}</span>`;
}
