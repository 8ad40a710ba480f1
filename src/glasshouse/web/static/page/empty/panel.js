// @ts-check
/** The empty page: one sentence that says what this is, a recorded merge, and every world that can be watched. */
import { html, useEffect, useRef, useState } from "page/html";
import { Recorded } from "page/empty/recorded";
import { startPlay } from "page/empty/start";
import { freshSeed, inOrder, minutesWords, WorldCards } from "page/empty/worlds";
import { icon } from "page/icons";
import { register } from "page/keys";
import { dialog, isDirector, open, openDialog, session, source } from "page/store";
import { openStudio } from "page/studio/open";
import { Button } from "page/ui";

/**
 * @typedef {import("page/empty/worlds").World} World
 * @typedef {{size: string, model: string|null, is_local: boolean|null, is_free: boolean|null, problem: string|null}} Size
 */

const lookMilliseconds = 4000;
const numbers = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"];

export function EmptyPage() {
  const [recording, setRecording] = useState(/** @type {import("page/empty/recorded").Recording|null} */ (null));
  const mayStart = isDirector.value && !session.value.isGuest;
  const offer = useOffer(mayStart);
  useEffect(() => {
    // Only an empty page needs it, so it is no part of what every visit loads.
    void import("page/empty/recording").then((loaded) => setRecording(/** @type {any} */ (loaded.recording)));
  }, []);
  useEffect(lookForRuns, []);
  return html`<main class=${`empty-page${mayStart ? "" : " is-waiting"}`}>
    <section class="hero" aria-label="What this is">
      <div class="hero-words">
        <h2>A small theatre, played by language models, under glass.</h2>
        <p>Creatures on graphs talk, meet and part while you watch. Rewind any moment, ask why a line was said, or change one thing and see another evening.</p>
        ${mayStart ? html`<${Doing} ...${offer} />` : html`<p class="hero-wait">Nothing plays here yet. As soon as somebody starts a play, it opens here.</p>`}
      </div>
      ${recording ? html`<${Recorded} recording=${recording} />` : html`<div class="recorded"></div>`}
    </section>
    ${mayStart ? html`<section class="empty-worlds" aria-label="Worlds">
      <h3>${offer.worlds ? `${numbers[offer.worlds.length] ?? offer.worlds.length} world${offer.worlds.length === 1 ? "" : "s"}` : "Worlds"}<small>Choose one to watch, or configure its words, its cast, limits and models.</small></h3>
      <${WorldCards} worlds=${offer.worlds} chosen=${offer.world?.name ?? ""} onChoose=${offer.choose} onOpen=${offer.watch} />
    </section>` : null}
  </main>`;
}

/** Show the first run that somebody starts, unless a dialog is open. */
function lookForRuns() {
  const timer = setInterval(async () => {
    if (document.hidden || dialog.value) return;
    const [newest] = await source().runs({ limit: 1 }).catch(() => []);
    if (newest && !session.value.run && !dialog.value) void open(newest.id);
  }, lookMilliseconds);
  return () => clearInterval(timer);
}

/** The worlds, the one that is chosen, and how it is watched. @param {boolean} mayStart */
function useOffer(mayStart) {
  const [worlds, setWorlds] = useState(/** @type {World[]|null} */ (null));
  const [sizes, setSizes] = useState(/** @type {Size[]} */ ([]));
  const [world, choose] = useState(/** @type {World|undefined} */ (undefined));
  const [problem, setProblem] = useState("");
  const [isStarting, setStarting] = useState(false);
  const load = () => {
    setProblem("");
    Promise.all([source().worlds(), source().models()]).then(
      ([found, models]) => {
        const sorted = inOrder(found);
        setWorlds(sorted);
        setSizes(models.sizes);
        choose((/** @type {World|undefined} */ before) => before ?? sorted.find((some) => !some.problem));
      },
      (wrong) => setProblem(wrong.message),
    );
  };
  useEffect(() => void (mayStart && load()), [mayStart]);
  const watch = async (/** @type {World|undefined} */ wanted = world) => {
    if (!wanted || isStarting) return;
    setStarting(true);
    setProblem("");
    try {
      await startPlay({ world: wanted.name, rng_seed: freshSeed() });
    } catch (refused) {
      setProblem(refused instanceof Error ? refused.message : String(refused));
      setStarting(false);
    }
  };
  return { worlds, sizes, world, choose, problem, isStarting, watch, load };
}

/** The two ways on: watch at once, or configure first. @param {ReturnType<typeof useOffer>} offer */
function Doing({ worlds, sizes, world, problem, isStarting, watch, load }) {
  const now = useRef(watch);
  now.current = watch;
  useEffect(() => register({ id: "watch", key: "Enter", label: "Watch the chosen world", group: "Show", when: () => !dialog.value && !session.value.run, run: () => void now.current() }), []);
  return html`<div class="hero-doing">
      <button type="button" class="button primary" onClick=${() => void watch()} disabled=${!world || isStarting}>${icon("play")}<span>Watch${world ? ` ${world.title}` : ""}</span><kbd aria-hidden="true">Enter</kbd></button>
      <${Button} label="Configure" onClick=${() => openDialog("start", { world: world?.name })} />
      <${Button} label="Studio" title="Edit its files as texts, and rehearse them" isDisabled=${!world} onClick=${() => world && openStudio(world.name)} />
      <${Cost} sizes=${sizes} world=${world} />
    </div>
    ${problem ? html`<p class="start-problem" role="alert">${icon("error")}<span>${problem}</span>${worlds ? null : html`<${Button} label="Try again" onClick=${load} />`}</p>` : null}`;
}

/** What watching costs: the server's words where it costs something. @param {{sizes: Size[], world: World|undefined}} props */
function Cost({ sizes, world }) {
  const [says, setSays] = useState("");
  const used = sizes.filter(({ size }) => world?.profiles.includes(size));
  const isOffline = used.every(({ model }) => model?.startsWith("offline"));
  const missing = used.find((size) => size.problem);
  useEffect(() => {
    setSays("");
    if (!world || isOffline || missing) return undefined;
    let isOld = false;
    source().post("estimate", { world: world.name }).then((/** @type {any} */ told) => isOld || setSays(told.says), () => {});
    return () => {
      isOld = true;
    };
  }, [world?.name, isOffline, missing]);
  if (!world) return null;
  if (missing) return html`<span class="is-wrong">Nothing plays the size ${missing.size} here: ${missing.problem}</span>`;
  const offline = world.has_script ? "Offline and free." : "Offline and free: without a script or a model, its lines come from its personas, its wants and a general grammar.";
  return html`<span aria-live="polite">${isOffline ? `${offline} About ${minutesWords(world.minutes ?? 1)}.` : says}</span>`;
}
