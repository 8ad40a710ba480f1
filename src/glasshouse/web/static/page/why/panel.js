// @ts-check
/** Why something was said: the causes of an event back to where it began, the newest on top. */
import { html, useEffect, useLayoutEffect, useRef, useState } from "page/html";
import { colourOf, creatureCalled, nameOf } from "page/apply";
import { setAddress } from "page/address";
import { graphColour } from "page/colours";
import { Face } from "page/face";
import { icon } from "page/icons";
import { Button, dollars, IconButton } from "page/ui";
import { harmless } from "page/plain";
import { copyLink } from "page/feed/export";
import { numberHere } from "page/feed/numbers";
import { useAnswer } from "page/feed/details";
import { goLive, head, isRewound, numberOf, panel, seek, session, shown, source, view } from "page/store";
import { path } from "page/why/path";
import { beganWords, citesConnector, connectorOf, costOf, doingOf, inWords } from "page/why/words";

/** @typedef {import("page/why/words").Link} Link */

const linesShown = 3;
const facesShown = 12;

/** @param {{eventId: string}} props */
export function Why({ eventId }) {
  const { value: why, problem } = useAnswer(() => whyOf(eventId), [eventId]);
  const [chosen, choose] = useState(0);
  const [areKnowersOpen, openKnowers] = useState(false);
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  useRestored(eventId);
  useEffect(() => {
    choose(0);
    openKnowers(false);
  }, [eventId]);
  useEffect(() => {
    if (!why) return undefined;
    path.value = { eventId, k: why.links[0].k, links: why.links.map((/** @type {NumberedLink} */ link, /** @type {number} */ at) => asPathLink(link, at, why.links)), selected: chosen + 1 };
    return undefined;
  }, [why, chosen]);
  useLayoutEffect(() => {
    const card = why ? box.current?.querySelectorAll(".why-card")[chosen] : box.current;
    if (card instanceof HTMLElement) card.focus({ preventScroll: false });
  }, [why, chosen]);
  const close = () => {
    panel.value = "";
  };
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    const isCard = event.target instanceof Element && event.target.matches(".why-card, .why");
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!why || !isCard || (!by && event.key !== "Enter")) return;
    event.preventDefault();
    event.stopPropagation();
    if (by) choose(Math.max(0, Math.min(why.links.length - 1, chosen + by)));
    else if (why.links[chosen].k) void seek(why.links[chosen].k);
  };
  const k = why?.links[0].k || numberHere(eventId) || "";
  return html`<div class="why" ref=${box} tabindex="-1" onKeyDown=${onKeyDown}>
    <header class="why-header">
      <h2>${isSaid(why?.links[0]) ? "Why was this said?" : "Why did this happen?"}</h2><span class="why-number">${k}</span>
      <span class="spacer"></span>
      <${Button} label=${`Who knew ${k || "it"}?`} icon="eye" isPressed=${areKnowersOpen || undefined} onClick=${() => openKnowers(!areKnowersOpen)} />
      <${Button} label="Copy" icon="link" title="Copy a link to this answer" onClick=${() => void copyLink({ at: eventId, panel: `why:${eventId}` })} />
      <${IconButton} label="Close" kbd="Esc" kind="quiet" icon="close" onClick=${close} />
    </header>
    ${problem ? html`<p class="empty">${problem}</p>` : null}
    ${!why && !problem ? html`<div class="why-body" aria-hidden="true">${[1, 2, 3].map(() => html`<div class="skeleton"></div>`)}</div>` : null}
    ${why ? html`<${Sums} why=${why} />` : null}
    ${why && areKnowersOpen ? html`<${Knowers} why=${why} />` : null}
    ${why
      ? html`<ol class="why-body" aria-label="Causes, the newest first">
          ${why.links.map((/** @type {NumberedLink} */ link, /** @type {number} */ at) => html`<${LinkItem} key=${link.event.id} link=${link} next=${why.links[at + 1]} at=${at} isChosen=${at === chosen} onChoose=${choose} />`)}
        </ol>`
      : null}
  </div>`;
}

/** @typedef {Link & {k: number, knew: {creature: string, handle: string, how: string}[]|null}} NumberedLink */

/** @param {Link|undefined} link */
const isSaid = (link) => !link || typeof link.event.payload?.text === "string";

/** The answer of the server, with the number of each link and who knew of it then. @param {string} eventId */
async function whyOf(eventId) {
  const { run } = session.value;
  const why = await source().about(run, eventId, "why");
  why.links = await Promise.all(
    why.links.map(async (/** @type {Link} */ link) => {
      const { id } = link.event;
      const [k, knew] = await Promise.all([numberHere(id) || numberOf(id), knewOf(run, id)]);
      return { ...link, k, knew };
    }),
  );
  return why;
}

/** Who knew of an event right after it. @param {string} run @param {string} id */
async function knewOf(run, id) {
  try {
    return (await source().about(run, id, `who-knew?at=${encodeURIComponent(id)}`)).knowers;
  } catch {
    return null;
  }
}

/** @param {NumberedLink} link @param {number} at @param {NumberedLink[]} links @returns {import("page/why/path").PathLink} */
function asPathLink({ event, who, k, came, cited_by }, at, links) {
  const to = cited_by ? links.findIndex((other) => other.event.id === cited_by) + 1 : at;
  return { n: at + 1, k, id: event.id, actor: event.actor, handle: who, graph: event.graph_id, isDisturbance: event.kind === "user.injected", came, to };
}

/** The page goes to the moment of the event, and back to where it was when the panel closes. @param {string} eventId */
function useRestored(eventId) {
  const before = useRef(/** @type {{run: string, k: number}|null} */ (null));
  useEffect(() => {
    before.current = { run: session.value.run, k: isRewound.value ? shown.value : 0 };
    return () => {
      path.value = null;
      setAddress({ panel: "" });
      if (before.current?.run !== session.value.run) return;
      if (before.current.k) void seek(before.current.k);
      else goLive();
    };
  }, []);
  useEffect(() => {
    setAddress({ panel: `why:${eventId}` });
    void (async () => {
      const k = numberHere(eventId) || (await numberOf(eventId));
      if (k && k !== shown.value && panel.value === `why:${eventId}` && k <= head.value) await seek(k);
    })();
  }, [eventId]);
}

/** @param {{why: any}} props */
function Sums({ why }) {
  const costs = why.links.map((/** @type {Link} */ link) => costOf(link.event));
  const calls = costs.reduce((/** @type {number} */ total, /** @type {any} */ cost) => total + cost.calls, 0);
  const tokens = costs.reduce((/** @type {number} */ total, /** @type {any} */ cost) => total + cost.input + cost.output, 0);
  const usd = costs.some((/** @type {any} */ cost) => cost.usd === null) ? null : costs.reduce((/** @type {number} */ total, /** @type {any} */ cost) => total + cost.usd, 0);
  const isDisturbed = why.began === "disturbance";
  return html`<p class="why-sums">
    <span><b>${why.links.length}</b> ${why.links.length === 1 ? "link" : "links"}</span><span><b>${calls}</b> ${calls === 1 ? "call" : "calls"}</span>
    <span><b>${tokens.toLocaleString("en")}</b> tokens</span><span><b>${dollars(usd)}</b></span>
    <span class=${isDisturbed ? "why-began is-disturbed" : "why-began"}>${isDisturbed ? icon("bolt", 14) : null}${beganWords(why.began)}</span>
  </p>`;
}

/** @param {{link: NumberedLink, next: NumberedLink|undefined, at: number, isChosen: boolean, onChoose: (at: number) => void}} props */
function LinkItem({ link, next, at, isChosen, onChoose }) {
  const { event, k } = link;
  // What a verdict cites comes behind it, and no cause of the link above.
  const cause = next?.cited_by ? undefined : next;
  const isDisturbance = event.kind === "user.injected";
  const text = harmless(typeof event.payload?.text === "string" ? event.payload.text : (event.payload?.reason ?? ""));
  const cited = link.cites.map((cite) => numberHere(cite.id)).filter(Boolean).join(", ");
  const number = (/** @type {string} */ id) => String(numberHere(id) || "");
  const isOwn = !next?.cited_by || next.cited_by === event.id;
  const connector = !next ? null : isOwn ? connectorOf(link, cause, { number }) : citesConnector(number(next.cited_by));
  const name = isDisturbance ? "A visitor" : link.who === "world" ? "The world" : nameOf(harmless(link.who), view() ?? undefined);
  return html`<li class=${`why-link${isDisturbance ? " is-disturbance" : ""}${isChosen ? " is-chosen" : ""}${cause?.event.kind === "user.injected" ? " from-disturbance" : ""}`}>
    <span class="why-step" aria-hidden="true">${at + 1}</span>
    <div class="why-card" role="group" tabindex=${isChosen ? 0 : -1} aria-label=${`${at + 1}: ${name}, event ${k}`} onClick=${() => onChoose(at)} onDblClick=${() => k && void seek(k)}>
      <div class="why-main">
        <p class="why-who"><b dir="auto">${name}</b> <span>${doingOf(link, cited)}</span>${k ? html`<button type="button" title="Rewind here" aria-label=${`Rewind to event ${k}`} onClick=${() => void seek(k)}>${k}</button>` : null}</p>
        ${text ? html`<p class="why-text" dir="auto" title=${text.length > 160 ? text.slice(0, 2000) : undefined}>${text.slice(0, 600)}</p>` : null}
        <${Lines} link=${link} cause=${cause} isFirst=${at === 0} />
      </div>
      <${Side} link=${link} />
    </div>
    ${connector ? html`<p class="why-came">${icon(connector.icon, 12)}<span>${connector.text}</span></p>` : null}
  </li>`;
}

/**
 * The lines that its model was shown: what it cites and answers first, then what is on the path. The first link has room for
 * others, too.
 * @param {{link: NumberedLink, cause: NumberedLink|undefined, isFirst: boolean}} props
 */
function Lines({ link, cause, isFirst }) {
  const [isOpen, setOpen] = useState(false);
  if (!link.event.model?.calls?.length) return null;
  if (!link.lines.length) return html`<p class="why-lines-head">${link.missing.includes("prompt") ? "Lines in sight, prompt not kept" : "No lines in its prompt"}</p>`;
  const cited = new Set([...link.cites.map((event) => event.id), cause?.event.id]);
  const onPath = new Set(path.value?.links.map(({ id }) => id));
  const rank = (/** @type {any} */ line) => (cited.has(line.event_id) ? 0 : onPath.has(line.event_id) ? 1 : line.kind === "user.injected" ? 2 : 3);
  const sorted = [...link.lines].reverse().sort((a, b) => rank(a) - rank(b));
  const telling = sorted.filter((line, at) => isFirst || at === 0 || rank(line) < 3);
  const lines = isOpen ? link.lines : telling.slice(0, linesShown);
  const count = `${link.lines.length} ${link.lines.length === 1 ? "line" : "lines"}`;
  return html`<div class="why-lines">
    <p class="why-lines-head">In the prompt, ${link.lines.length > lines.length || isOpen ? html`<button type="button" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${count}</button>` : count}</p>
    <ul>${lines.map((line) => {
      const k = numberHere(line.event_id);
      const classes = [cited.has(line.event_id) || onPath.has(line.event_id) ? "is-cited" : "", line.kind === "user.injected" ? "is-disturbance" : ""].join(" ");
      return html`<li key=${line.event_id} class=${classes}><i>${k || ""}</i><span dir="auto" title=${`${line.who}: ${harmless(line.text).slice(0, 500)}`}>${harmless(line.text).slice(0, 300)}</span></li>`;
    })}</ul>
  </div>`;
}

/** Who knew of it, and what it cost. @param {{link: NumberedLink}} props */
function Side({ link }) {
  const { calls, input, output, usd, milliseconds, models } = costOf(link.event);
  const model = models.filter(Boolean).join(", ");
  return html`<div class="why-side">
    <${Faces} link=${link} />
    ${calls
      ? html`<p class="why-cost">${input.toLocaleString("en")} in, ${output.toLocaleString("en")} out<br />${dollars(usd)}${milliseconds ? `, ${(milliseconds / 1000).toFixed(1)} s` : ""}${model ? html`<br />${harmless(model)}` : null}</p>`
      : html`<p class="why-cost">no call, no cost</p>`}
  </div>`;
}

/** @param {{link: NumberedLink}} props */
function Faces({ link }) {
  const shownView = view();
  if (!link.knew || !shownView) return null;
  const knew = new Set(link.knew.map(({ creature }) => creature));
  const cast = Object.keys(shownView.creatures);
  const others = cast.filter((id) => !knew.has(id));
  const known = cast.filter((id) => knew.has(id));
  const words = !known.length ? "Known to nobody" : others.length ? `Known to ${inWords(known.length)}` : `Known to all ${inWords(known.length)}`;
  const faces = [...known.map((id) => ({ id, isKnown: true })), ...others.map((id) => ({ id, isKnown: false }))];
  const names = known.map((id) => nameOf(shownView.creatures[id].handle, shownView)).join(", ");
  return html`<p class="why-known">${words}<span class="hidden">: ${names}</span></p>
    <div class="why-faces" aria-hidden="true">
      ${link.event.kind === "user.injected" ? html`<i class="why-visitor"></i>` : null}
      ${faces.slice(0, facesShown).map(({ id, isKnown }) => {
        const { handle, graph } = shownView.creatures[id];
        const name = nameOf(handle, shownView);
        return isKnown
          ? html`<span key=${id} title=${name}><${Face} id=${handle} colour=${graphColour(colourOf(shownView, graph))} size=${17} /></span>`
          : html`<i key=${id} class="why-unknown" title=${`${name} did not know`}></i>`;
      })}
      ${faces.length > facesShown ? html`<small>+${faces.length - facesShown}</small>` : null}
    </div>`;
}

const ways = /** @type {{[how: string]: string}} */ ({
  said: "said it",
  heard: "heard it",
  present: "was there",
  handed: "was handed it by a wire",
  joined: "joined the channel later",
  merged: "came by a merge",
  reborn: "took over the past of one that knew",
});

/** Everyone who knew of the event by now, and how. @param {{why: any}} props */
function Knowers({ why }) {
  const { value, problem } = useAnswer(() => source().about(session.value.run, why.event_id, "who-knew"), [why.event_id]);
  const shownView = view();
  if (problem) return html`<p class="empty">${problem}</p>`;
  if (!value || !shownView) return html`<p class="why-knowers">…</p>`;
  return html`<ul class="why-knowers" aria-label="Who knew">
    ${value.knowers.slice(0, 200).map((/** @type {any} */ one) => {
      const creature = shownView.creatures[one.creature] ?? creatureCalled(shownView, one.handle)?.[1];
      const since = numberHere(one.since);
      return html`<li key=${one.creature}>
        <${Face} id=${one.handle} colour=${graphColour(creature ? colourOf(shownView, creature.graph) : 0)} size=${18} isDim=${!creature} />
        <b>${nameOf(harmless(one.handle), shownView)}</b><span>${ways[one.how] ?? one.how}${one.with_content ? "" : ", without the words"}${one.until ? ", gone since" : ""}</span><i>${since ? `since ${since}` : ""}</i>
      </li>`;
    })}
    ${value.count === 0 ? html`<li>Nobody.</li>` : null}
  </ul>`;
}
