// @ts-check
/** Two runs side by side: what they share is folded, the rest stands turn by turn, and one scrubber moves both. */
import { html, memo, useCallback, useEffect, useMemo, useRef, useState } from "page/html";
import { nameOf, sessionOf } from "page/apply";
import { linkTo } from "page/address";
import { Face } from "page/face";
import { graphColour } from "page/colours";
import { icon } from "page/icons";
import { harmless } from "page/plain";
import { Button, dollars, IconButton, short } from "page/ui";
import { StaticGraph } from "page/graph/static_graph";
import { head, open, session } from "page/store";
import { family, loadFamily } from "page/time/family";
import { endingOf } from "page/time/panel";
import { endComparing } from "page/compare/open";
import { loadSide, ownRecords, viewOf } from "page/compare/side";
import { aligned } from "page/compare/align";

/**
 * @typedef {import("page/compare/side").Side} Side
 * @typedef {import("page/compare/align").Line} Line
 * @typedef {import("page/compare/align").TurnRow} TurnRow
 */

const secondsBetweenLooks = 3;

/** @param {{run: string}} props the other run */
export function Compare({ run: other }) {
  const mine = session.value.run;
  const isThere = head.value > 0;
  const [sides, setSides] = useState(/** @type {[Side, Side]|null} */ (null));
  const [wrong, setWrong] = useState("");
  useEffect(() => {
    if (!isThere) return undefined;
    let isEnded = false;
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    let timer;
    const look = async () => {
      try {
        const shared = await sharedEvent(mine, other);
        const loaded = await Promise.all([loadSide(mine, shared), loadSide(other, shared)]);
        if (isEnded) return;
        setSides(/** @type {[Side, Side]} */ (loaded));
        // A run that still plays is looked at again; this page follows one stream alone.
        if (loaded.some((side) => side.head.runs[side.run]?.state === "playing")) timer = setTimeout(look, secondsBetweenLooks * 1000);
      } catch (problem) {
        if (!isEnded) setWrong(problem instanceof Error ? problem.message : String(problem));
      }
    };
    void look();
    return () => {
      isEnded = true;
      clearTimeout(timer);
    };
  }, [mine, other, isThere]);
  if (wrong) return html`<div class="panel compare"><p class="empty">${wrong}</p><${Button} label="Close" onClick=${endComparing} /></div>`;
  if (!sides) return html`<div class="panel compare" aria-busy="true"><p class="empty">Two runs are being read…</p></div>`;
  return html`<${Compared} sides=${sides} />`;
}

/** The last event that two runs share; null if neither branched from the other. @param {string} mine @param {string} other */
async function sharedEvent(mine, other) {
  if (!family.value.length) await loadFamily();
  const byId = new Map(family.value.map((run) => [run.id, run]));
  const [a, b] = [byId.get(mine), byId.get(other)];
  if (b?.branch_of === mine) return b.branch_at;
  if (a?.branch_of === other) return a.branch_at;
  return null;
}

/** @param {{sides: [Side, Side]}} props */
function Compared({ sides }) {
  const result = useMemo(() => aligned([ownRecords(sides[0]), ownRecords(sides[1])], [sides[0].from, sides[1].from]), [sides]);
  const { rows, sameRows, differsAt } = result;
  const [at, setAt] = useState(differsAt?.row ?? Math.max(0, rows.length - 1));
  const [isUnfolded, setUnfolded] = useState(false);
  const list = useRef(/** @type {HTMLElement|null} */ (null));
  const last = rows.length - 1;
  const go = useCallback((/** @type {number} */ row) => setAt(Math.max(0, Math.min(last, row))), [last]);
  const row = rows[at];
  useKeys({ "[": () => go(at - 1), "]": () => go(at + 1), Home: () => go(0), End: () => go(last), ArrowUp: () => go(at - 1), ArrowDown: () => go(at + 1) });
  useEffect(() => {
    if (at < sameRows) setUnfolded(true);
    requestAnimationFrame(() => list.current?.querySelector(".is-now")?.scrollIntoView({ block: "nearest" }));
  }, [at]);
  useEffect(() => list.current?.parentElement?.querySelector("input")?.focus(), []);
  const views = useMemo(() => sides.map((side, number) => viewOf(side, row?.ends[number] ?? side.head.k)), [sides, row]);
  const folded = isUnfolded ? 0 : sameRows;
  return html`<div class="panel compare" role="region" aria-label="Two runs side by side">
    <header class="compare-head">
      <h2>Side by side</h2>
      ${differsAt ? html`<button type="button" class="pill is-gold" onClick=${() => go(differsAt.row)}>first differs at ${differsAt.k}</button>` : html`<span class="pill">no line differs</span>`}
      <span class="compare-note">${sides[0].from ? `They share ${sides[0].from} events.` : "Neither branched from the other."}</span>
      <${IconButton} label="Close" kbd="Esc" icon="close" onClick=${endComparing} />
    </header>
    <div class="compare-sides">${sides.map((side, number) => html`<${SideHead} key=${side.run} side=${side} view=${views[number]} />`)}</div>
    <div class="compare-list" ref=${list}>
      ${sides[0].from || sameRows ? html`<button type="button" class="compare-fold" aria-expanded=${isUnfolded} onClick=${() => setUnfolded(!isUnfolded)} disabled=${!sameRows}>
        ${icon("chevron", 12)}<span>${sharedWords(sides[0].from, rows, sameRows)}</span></button>` : null}
      ${rows.slice(folded).map((row, number) => html`<${Row} key=${row.turn} row=${row} sides=${sides} isFirst=${number + folded === differsAt?.row} isNow=${number + folded === at} number=${number + folded} onPick=${go} />`)}
      ${sides.some((side) => side.isCut) ? html`<p class="empty">Only the first ${short(sides[0].records.length)} events behind the branch are compared.</p>` : null}
    </div>
    <${Scrubber} rows=${rows} sides=${sides} at=${at} sameRows=${sameRows} onGo=${go} />
  </div>`;
}

/** @param {number} from @param {TurnRow[]} rows @param {number} sameRows */
function sharedWords(from, rows, sameRows) {
  const same = sameRows ? `${sameRows} ${sameRows === 1 ? "turn is" : "turns are"} the same, up to turn ${rows[sameRows - 1].turn}` : "";
  const past = from ? `Events 1 to ${from} are one past` : "";
  return [past, same].filter(Boolean).join("; ");
}

/** @param {{side: Side, view: import("page/apply").View}} props */
function SideHead({ side, view }) {
  const run = view.runs[side.run] ?? side.head.runs[side.run];
  const relative = family.value.find((member) => member.id === side.run);
  const score = Object.entries(view.contest.score ?? {});
  return html`<section class="compare-side" aria-label=${relative?.name ?? run?.title ?? side.run}>
    <div class="compare-name">
      <span class="pill mono">${relative?.name ?? "run"}</span>
      <b>${run?.title}</b>
      <span class="compare-end">${endingOf(side.head.runs[side.run]) || "Still plays."}</span>
      <${Button} label="Open" kind="quiet" onClick=${() => void open(side.run, { at: view.event_id, isStep: true })} />
    </div>
    <dl class="compare-figures">
      ${run ? [["Event", String(view.k)], ["Turns", String(run.spent.turns)], ["Calls", String(run.spent.calls)], ["Tokens", short(run.spent.tokens)], ["Spend", dollars(run.spent.usd)]].map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`) : null}
      ${score.map(([who, points]) => html`<div><dt>${nameOf(who, view)}</dt><dd>${points}</dd></div>`)}
    </dl>
    <div class="compare-graph"><${StaticGraph} view=${view} /></div>
  </section>`;
}

/** @param {{row: TurnRow, sides: [Side, Side], isFirst: boolean, isNow: boolean, number: number, onPick: (number: number) => void}} props */
function drawRow({ row, sides, isFirst, isNow, number: at, onPick }) {
  const pick = () => onPick(at);
  return html`${isFirst ? html`<p class="compare-first"><span>first differs here</span></p>` : null}
    <div class=${`compare-row${isNow ? " is-now" : ""}${row.isSame ? " is-same" : ""}`} onClick=${pick}>
      ${[0, 1].map((number) => html`${number ? html`<button type="button" class="compare-turn" aria-current=${isNow} aria-label=${`Turn ${row.turn}${row.isSame ? ", the same in both" : ", not the same"}`} onClick=${pick}>${row.turn}</button>` : null}
        <div class="compare-lines">
          ${row.sides[number].length ? row.sides[number].map((line) => html`<${Said} key=${line.id} line=${line} side=${sides[number]} />`) : html`<p class="compare-none">Nothing said in this turn.</p>`}
        </div>`)}
    </div>`;
}

const Row = memo(drawRow);

/** @param {{line: Line, side: Side}} props */
function Said({ line, side }) {
  const creature = Object.entries(side.head.creatures).find(([, one]) => one.handle === line.actor);
  const colour = side.head.lanes[sessionOf(line.id)]?.colour ?? 0;
  const isWorld = line.actor === "world";
  return html`<div class=${`said is-${line.icon}${line.isSame ? " is-same" : ""}`}>
    ${creature ? html`<${Face} id=${creature[1].handle} colour=${graphColour(colour)} size=${24} />` : html`<span class="said-icon">${icon(line.icon, 14)}</span>`}
    <div><p class="said-who"><b>${isWorld ? "Scene" : nameOf(line.actor, side.head)}</b><a class="mono" href=${linkTo({ run: side.run, at: line.id, panel: "" })} title="Open this run here">${line.k}</a></p>
    <p class="said-text" dir="auto">${harmless(line.text)}</p></div>
  </div>`;
}

/** One past, then two lines; one range moves both. @param {{rows: TurnRow[], sides: [Side, Side], at: number, sameRows: number, onGo: (row: number) => void}} props */
function Scrubber({ rows, sides, at, sameRows, onGo }) {
  const past = 14;
  const x = (/** @type {number} */ row) => past + 4 + (rows.length > 1 ? (row / (rows.length - 1)) * (96 - past - 4) : 0);
  const parts = x(Math.max(0, Math.min(sameRows, rows.length - 1))) - 2;
  const now = rows[at];
  return html`<div class="compare-scrubber">
    <svg viewBox="0 0 100 60" preserveAspectRatio="none" aria-hidden="true">
      <path class="is-past" d=${`M2 30H${parts}`} /><path class="is-left" d=${`M${parts} 30C${parts + 1} 30 ${parts + 1} 16 ${parts + 2} 16H98`} /><path class="is-right" d=${`M${parts} 30C${parts + 1} 30 ${parts + 1} 44 ${parts + 2} 44H98`} />
    </svg>
    ${rows.map((row, number) => [0, 1].map((side) => row.sides[side].length ? html`<i class=${`tick ${row.isSame ? "is-same" : side ? "is-right" : "is-left"}`} style=${{ left: `${x(number)}%`, top: `${row.isSame && number < sameRows ? 30 : side ? 44 : 16}px` }}></i>` : null))}
    <div class="playhead" style=${{ left: `${x(at)}%` }} aria-hidden="true"><i></i><b class="mono">turn ${now?.turn ?? 0}</b></div>
    <input type="range" min="0" max=${Math.max(0, rows.length - 1)} value=${at} style=${{ left: `calc(${x(0)}% - 12px)`, width: `calc(${x(Math.max(1, rows.length - 1)) - x(0)}% + 24px)` }} aria-label="Turn, of both runs"
      aria-valuetext=${now ? `turn ${now.turn}: event ${now.ends[0]} and event ${now.ends[1]}` : "no turn"} onInput=${(/** @type {Event} */ event) => onGo(Number(/** @type {HTMLInputElement} */ (event.target).value))} />
    ${sides.map((side, number) => html`<span class=${`scrubber-name ${number ? "is-right" : "is-left"}`}>${family.value.find((member) => member.id === side.run)?.name ?? side.run}</span>`)}
  </div>`;
}

/** Keys that mean something else while two runs are compared. @param {{[key: string]: () => void}} keys */
function useKeys(keys) {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const press = (event) => {
      const target = event.target instanceof Element ? event.target : null;
      if (event.ctrlKey || event.metaKey || event.altKey || target?.closest("input:not([type=range]), textarea, select, [role=dialog], [role=menu]")) return;
      if (event.key.startsWith("Arrow") && target?.closest("input")) return;
      const act = current.current[event.key];
      if (!act) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    };
    addEventListener("keydown", press, true);
    return () => removeEventListener("keydown", press, true);
  }, []);
}
