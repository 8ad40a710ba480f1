// @ts-check
/**
 * A text area with line numbers, and the complaints under their lines. It is a plain one: what it shows is drawn by a copy of its text
 * that lies behind it, line by line, so numbers and marks stand where the lines are also when these wrap.
 */
import { html, useLayoutEffect, useMemo, useRef, useState } from "page/html";
import { icon } from "page/icons";
import { Button } from "page/ui";
import { changedLines, offsetOf, piecesOf } from "page/studio/texts";

/** @typedef {import("page/studio/texts").Mistake} Mistake */

/** How many lines a complaint may cover: it folds while somebody writes in them. */
const rowsHidden = 3;

/** Mistakes by the line that they stand under. @param {Mistake[]} mistakes @param {number} count of lines */
function byTheirLine(mistakes, count) {
  const grouped = /** @type {Map<number, Mistake[]>} */ (new Map());
  for (const mistake of mistakes.filter(({ line }) => line > 0)) {
    const line = Math.min(mistake.line, count);
    grouped.set(line, [...(grouped.get(line) ?? []), mistake]);
  }
  return grouped;
}

/** @param {{path: string, text: string, saved: string, mistakes: Mistake[], onChange: (text: string) => void, onUse: (mistake: Mistake) => void}} props */
export function TextEditor({ path, text, saved, mistakes, onChange, onUse }) {
  const copy = useRef(/** @type {HTMLElement|null} */ (null));
  const area = useRef(/** @type {HTMLTextAreaElement|null} */ (null));
  const [caret, setCaret] = useState({ line: 1, column: 1 });
  const [tops, setTops] = useState(/** @type {{[line: number]: {top: number, height: number}}} */ ({}));
  const lines = useMemo(() => text.split("\n"), [text]);
  const changed = changedLines(text, saved);
  const byLine = useMemo(() => byTheirLine(mistakes, lines.length), [mistakes, lines]);
  const noteCaret = () => {
    const before = text.slice(0, area.current?.selectionStart ?? 0).split("\n");
    setCaret({ line: before.length, column: before[before.length - 1].length + 1 });
  };
  // Where a complaint stands is measured: lines wrap.
  useLayoutEffect(() => {
    const measure = () => {
      const rows = [...(copy.current?.children ?? [])];
      setTops(Object.fromEntries([...byLine.keys()].map((line) => {
        const row = /** @type {HTMLElement|undefined} */ (rows[line - 1]);
        return [line, { top: row?.offsetTop ?? 0, height: row?.offsetHeight ?? 0 }];
      })));
    };
    measure();
    const watch = new ResizeObserver(measure);
    if (copy.current) watch.observe(copy.current);
    return () => watch.disconnect();
  }, [byLine]);
  const goTo = (/** @type {number} */ line) => {
    const start = offsetOf(text, Math.max(1, line));
    copy.current?.children[Math.max(1, line) - 1]?.scrollIntoView({ block: "center" });
    area.current?.focus({ preventScroll: true });
    area.current?.setSelectionRange(start, start);
  };
  const isUnder = (/** @type {number} */ line) => caret.line > line && caret.line <= line + rowsHidden;
  return html`<div class="studio-scroll">
      <div class="studio-text">
        <div class="studio-copy" ref=${copy} aria-hidden="true">
          ${lines.map((line, index) => {
            const number = index + 1;
            const wrong = byLine.get(number) ?? [];
            const marks = `${wrong.length ? " is-wrong" : ""}${changed.has(number) ? " is-changed" : ""}${number === caret.line ? " is-now" : ""}`;
            return html`<div class=${`row${marks}`} data-line=${number}>${piecesOf(line, wrong).map(({ text: piece, kind }) => (kind ? html`<span class=${`is-${kind}`}>${piece}</span>` : piece))}${line ? "" : "\u200b"}</div>`;
          })}
        </div>
        <textarea ref=${area} aria-label=${`Text of ${path}`} aria-invalid=${mistakes.length ? "true" : undefined} aria-describedby="studio-mistakes" spellcheck="false" autocapitalize="off" autocomplete="off" value=${text}
          onInput=${(/** @type {any} */ event) => onChange(event.target.value)} onSelect=${noteCaret} onKeyUp=${noteCaret} onClick=${noteCaret}></textarea>
        ${[...byLine].map(([line, wrong]) => html`<div key=${line} class=${`studio-complaint${isUnder(line) ? " is-folded" : ""}`} style=${{ top: `${(tops[line]?.top ?? 0) + (tops[line]?.height ?? 0)}px` }}>
          ${wrong.slice(0, 2).map((mistake) => html`<div>${icon("close", 14)}<p>${mistake.field ? html`<b>${mistake.field}: </b>` : null}${mistake.text}</p>
            ${mistake.instead ? html`<${Button} label=${`Use ${mistake.instead}`} kbd="Alt ↵" onClick=${() => (onUse(mistake), area.current?.focus())} />` : null}</div>`)}
        </div>`)}
      </div>
    </div>
    <div class="studio-foot" id="studio-mistakes" aria-live="polite">
      <span class=${mistakes.length ? "is-wrong" : ""}>${mistakes.length ? mistakes.map(({ line, field, text: words }) => html`<button type="button" class="studio-mistake" title="Go to this line" onClick=${() => goTo(line)}><b class="mono">${line || "–"}</b> ${field ? `${field}: ` : ""}${words}</button>`) : `Line ${caret.line}, column ${caret.column}`}</span>
      <small>${changed.size ? `${changed.size} ${changed.size === 1 ? "line" : "lines"} changed` : text === saved ? "as it is saved" : "lines taken out"}</small>
    </div>`;
}
