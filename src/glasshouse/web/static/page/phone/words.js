// @ts-check
/** The words of the play on a phone: the scene, the line that is read, whole and large, and the lines before it. */
import { html, useEffect, useLayoutEffect, useRef, useState } from "page/html";
import { Meters } from "page/bar";
import { form } from "page/form";
import { Face } from "page/face";
import { titleOf } from "page/graph/summary";
import { icon } from "page/icons";
import { earlierMax, readOf, saidBefore, whereAndToWhom } from "page/phone/lines";
import { harmless } from "page/plain";
import { useScrolling } from "page/scrolling";
import { speaker } from "page/stage/cast";
import { Ending } from "page/stage/ending";
import { noteRecord } from "page/stage/panel";
import { Proposals } from "page/stage/proposals";
import { Part } from "page/on_demand";
import { hasWithheld } from "page/stage/panel";
import { canReadMinds, flip, flipped, goLive, isDirector, isRewound, loadedFrom, minds, moment, onRecord, openDialog, panel, record, run, seek, selection, shown, source, status, view } from "page/store";
import { Button } from "page/ui";

/** @typedef {import("page/apply").View} View */

/** How long the words stay where a finger has moved them. */
const touchMilliseconds = 5000;
/** A line of more rows than this is set in the smaller type. */
const largeRowsMax = 4;
const faceSizes = { read: 44, earlier: 24 };

export function Words() {
  moment.value;
  loadedFrom.value;
  useEffect(() => onRecord(noteRecord), []);
  const box = useRef(/** @type {HTMLDivElement|null} */ (null));
  const now = view();
  const read = now ? readOf(now, selection.value) : "";
  useTop(box, `${read} ${now?.creatures[read]?.line?.n ?? 0}`);
  const scrolling = useScrolling(box, "Lines");
  if (!now) return html`<p class="empty">${status.value === "idle" ? "Nothing plays yet." : "The run is being opened."}</p>`;
  const line = read ? html`<${Read} view=${now} id=${read} />` : html`<p class="words-none">${Object.keys(now.creatures).length ? "Nobody has spoken yet." : "Nobody is on stage yet."}</p>`;
  const earlier = html`<${Earlier} view=${now} n=${now.creatures[read]?.line?.n ?? now.k + 1} />`;
  const notices = html`<${Ending} /><${Proposals} />${hasWithheld(now) ? html`<${Part} name="withheld" />` : null}`;
  const scene = html`<${Scene} view=${now} key=${now.scene.n ?? 0} />`;
  const past = isRewound.value ? html`<${LookingBack} />` : null;
  if (form.value === "low") return html`${past}<div class="words">${line}${notices}${earlier}</div>${scene}`;
  return html`${scene}${past}<div class="words" ref=${box} ...${scrolling}>${notices}${line}${earlier}</div>`;
}

/** Begin with another line at its first word, unless a finger has just moved the words. @param {{current: HTMLElement|null}} box @param {string} line */
function useTop(box, line) {
  const touched = useRef(-Infinity);
  useEffect(() => {
    const note = () => (touched.current = performance.now());
    box.current?.addEventListener("touchmove", note, { passive: true });
    return () => box.current?.removeEventListener("touchmove", note);
  }, [box.current]);
  useLayoutEffect(() => {
    if (box.current && performance.now() - touched.current > touchMilliseconds) box.current.scrollTop = 0;
  }, [line]);
}

/** The scene: its title, and whole with the meters while it is new or somebody unfolds it. @param {{view: View}} props */
function Scene({ view: now }) {
  moment.value; // A view changes in place.
  const isNew = (now.scene.n ?? 0) > (now.creatures[readOf(now, null)]?.line?.n ?? 0);
  const [unfolded, setUnfolded] = useState(/** @type {boolean|null} */ (null));
  const isUnfolded = unfolded ?? isNew;
  const shownRun = run();
  const text = harmless(now.scene.text || shownRun?.seed || "");
  const limit = shownRun?.limits?.max_turns;
  return html`<div class="phone-scene">
    <h2><button type="button" aria-expanded=${isUnfolded} onClick=${() => setUnfolded(!isUnfolded)}>
      <span class="scene-title" dir="auto">${harmless(now.scene.title || shownRun?.title || "")}</span>
      ${shownRun ? html`<span class="mono">turn ${shownRun.spent.turns}${limit ? `/${limit}` : ""}</span>` : null}${icon("chevron")}
    </button></h2>
    ${isUnfolded ? html`<div class="phone-scene-more">${text ? html`<p class="scene-text" dir="auto">${text}</p>` : null}${shownRun ? Meters() : null}</div>` : null}
  </div>`;
}

/** Which moment this is, and how to leave it. */
function LookingBack() {
  return html`<div class="looking-back"><span>At event <b class="mono">${shown.value}</b></span>
    ${isDirector.value ? html`<${Button} label="Branch" icon="branch" kind="quiet" onClick=${() => openDialog("branch")} />` : null}
    ${source().kind === "server" ? html`<${Button} label="Back to live" kind="quiet" onClick=${goLive} />` : null}</div>`;
}

/** The line that is read. @param {{view: View, id: string}} props */
function Read({ view: now, id }) {
  moment.value; // A view changes in place.
  const creature = now.creatures[id];
  const { line, graph, thought } = creature;
  const name = titleOf(creature);
  const colour = now.graphs[graph]?.colour ?? 0;
  const isThought = canReadMinds() && minds.value !== flipped.value.has(id);
  const spoken = line ? record(line.n) : undefined;
  const isChosen = selection.value?.kind === "creature" && selection.value.id === id;
  const text = harmless(line?.text ?? "");
  return html`<article class=${`read of-${colour % 8}`} aria-label=${isChosen ? `The last line of ${name}` : "The newest line"}>
    <header><${Face} id=${creature.handle} colour=${`var(--g${colour % 8})`} size=${faceSizes.read} isOpen=${speaker.value === id} hasCrown=${creature.is_privileged} isJudge=${creature.role === "judge"} isDim=${!creature.is_running} />
      <div><h2 dir="auto">${name}</h2><p dir="auto">${line ? whereAndToWhom(now, id, record) : harmless(creature.bio ?? "")}</p></div>
      ${isChosen ? html`<button type="button" class="button quiet" onClick=${() => (selection.value = null)}>Newest</button>` : null}</header>
    <${LargeWords} text=${text || "Has not spoken yet."} isNone=${!text} />
    ${isThought ? html`<div class="read-thought"><span>thinks, privately</span><p dir="auto">${harmless(thought ?? "") || "Nothing that it keeps to itself."}</p></div>` : null}
    <footer>
      ${canReadMinds() ? html`<button type="button" class="button quiet" aria-pressed=${isThought} onClick=${() => flip(id)}>${icon("eye")}<span>${isThought ? "Hide mind" : "Read mind"}</span></button>` : null}
      ${spoken ? html`<button type="button" class="button quiet" onClick=${() => (panel.value = `why:${spoken.id}`)}>${icon("question")}<span>Why?</span></button>` : null}
      ${line ? html`<span class="mono">${line.n}</span>` : null}
    </footer>
  </article>`;
}

/** A line in the larger type, or in the smaller one if it has too many rows of that. @param {{text: string, isNone: boolean}} props */
function LargeWords({ text, isNone }) {
  const words = useRef(/** @type {HTMLParagraphElement|null} */ (null));
  useLayoutEffect(() => {
    const element = words.current;
    if (!element) return undefined;
    let width = 0;
    const fit = () => {
      if (element.clientWidth === width) return; // Its own height has changed.
      width = element.clientWidth;
      element.classList.remove("is-long");
      const rows = element.offsetHeight / parseFloat(getComputedStyle(element).lineHeight);
      element.classList.toggle("is-long", rows > largeRowsMax + 0.5);
    };
    fit();
    void document.fonts?.ready.then(() => {
      width = 0;
      fit();
    });
    const watch = new ResizeObserver(fit);
    watch.observe(element);
    return () => watch.disconnect();
  }, [text]);
  return html`<p ref=${words} key=${text} class=${`read-words${isNone ? " is-none" : ""}`} dir="auto">${text}</p>`;
}

/** The lines before; a tap on one looks back to it. @param {{view: View, n: number}} props */
function Earlier({ view: now, n }) {
  moment.value; // A view changes in place.
  const said = saidBefore(now, n, record, earlierMax[form.value === "low" ? "low" : "phone"]);
  if (!said.length) return null;
  return html`<ol class="earlier" aria-label="Earlier lines">
    ${said.map(({ n: number, creature, text }) => {
      const speaks = now.creatures[creature];
      const colour = now.graphs[speaks?.graph]?.colour ?? 0;
      return html`<li key=${number} class=${speaks ? "" : "is-visitor"}><button type="button" onClick=${() => void seek(number)}>
        ${speaks ? html`<${Face} id=${speaks.handle} colour=${`var(--g${colour % 8})`} size=${faceSizes.earlier} />` : html`<span class="earlier-icon">${icon("visitor", 18)}</span>`}
        <span class="earlier-who"><b dir="auto">${speaks ? titleOf(speaks) : "A visitor"}</b><span class="mono">${number}</span></span>
        <span class="earlier-words" dir="auto">${text}</span>
      </button></li>`;
    })}
  </ol>`;
}
