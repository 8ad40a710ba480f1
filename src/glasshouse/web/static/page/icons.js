// @ts-check
/** Icons: sixteen units square, drawn in lines of the text's colour. */
import { html } from "page/html";

/** @type {{[name: string]: string}} */
const paths = {
  play: "M5 3.5v9l7.5-4.5z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  step: "M4 3.5v9l6-4.5zM12 3.5v9",
  stepBack: "M12 3.5v9L6 8zM4 3.5v9",
  stop: "M4.5 4.5h7v7h-7z",
  bolt: "M9 1.8 3.8 9h3.7l-.6 5.2L12.2 7H8.4z",
  archive: "M2.5 3h11v3h-11zM3.5 6v7h9V6M6.5 8.5h3",
  sun: "M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6M8 1.5v1.4M8 13.1v1.4M1.5 8h1.4M13.1 8h1.4M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1",
  moon: "M13 9.6A5.6 5.6 0 0 1 6.4 3a5.6 5.6 0 1 0 6.6 6.6z",
  plus: "M8 3v10M3 8h10",
  arrow: "M2.5 8h10.5M9 4l4 4-4 4",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  branch: "M4 13.5V9.5c0-3 1.5-4 4-4h4M9.5 2.5l3 3-3 3M4 9.5v-7",
  line: "M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2z",
  world: "M2 2.8h12M3.2 2.8c0 5-.3 8-1 10.7M12.8 2.8c0 5 .3 8 1 10.7M6.5 2.8c0 3.6-1.5 5.7-3.5 6.4M9.5 2.8c0 3.6 1.5 5.7 3.5 6.4",
  visitor: "M9 1.8 3.8 9h3.7l-.6 5.2L12.2 7H8.4z",
  judge: "M8 2v11M5 13.5h6M3 4.5h10M3 4.5 1.3 9h3.4zM13 4.5 11.3 9h3.4z",
  thought: "M4.5 9.5a3 3 0 0 1 .3-5.8 3.6 3.6 0 0 1 6.6.6 2.7 2.7 0 0 1-.4 5.2zM5 12.2h.01M3.4 14h.01",
  silence: "M3 8h.01M8 8h.01M13 8h.01",
  error: "M8 2 1.8 13.5h12.4zM8 6.5v3M8 11.6h.01",
  tool: "M10.5 2.2a3.3 3.3 0 0 0-3 4.5L2.5 11.7l1.8 1.8 5-5a3.3 3.3 0 0 0 4.4-3.9l-2 2-2-.6-.6-2z",
  approval: "M8 1.8 13 4v4c0 3-2 5-5 6.2C5 13 3 11 3 8V4zM5.8 8l1.6 1.6 3-3.2",
  creature: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11M6 7h.01M10 7h.01M6 10c1.2 1 2.8 1 4 0",
  channel: "M8 2.2 13.8 8 8 13.8 2.2 8z",
  wire: "M2.5 12.5c3 0 3-9 8-9M8.5 1.5l2.5 2-2.5 2.2",
  merge: "M3 2.5c0 4 5 3.5 5 7.5v3.5M13 2.5c0 4-5 3.5-5 7.5",
  split: "M8 2.5V6c0 4-5 3.5-5 7.5M8 6c0 4 5 3.5 5 7.5",
  session: "M3 3.5h10M3 8h10M3 12.5h6",
  run: "M3.5 14V2.5M3.5 3h8.5l-2 2.7 2 2.8H3.5",
  turn: "M13 8a5 5 0 1 1-1.5-3.6M13 2v3h-3",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  eye: "M1.5 8C3 5 5.3 3.5 8 3.5S13 5 14.5 8C13 11 10.7 12.5 8 12.5S3 11 1.5 8zM8 6a2 2 0 1 1 0 4 2 2 0 0 1 0-4",
  link: "M6.5 9.5a2.6 2.6 0 0 0 3.8.2l2.2-2.2a2.7 2.7 0 0 0-3.8-3.8l-1 1M9.5 6.5a2.6 2.6 0 0 0-3.8-.2L3.5 8.5a2.7 2.7 0 0 0 3.8 3.8l1-1",
  copy: "M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1",
  download: "M8 2v8.5M4.5 7.5 8 11l3.5-3.5M2.5 13.5h11",
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9M10.5 10.5l3.5 3.5",
  filter: "M2 3.5h12M4.5 8h7M6.5 12.5h3",
  chevron: "M4 6l4 4 4-4",
  check: "M3 8.5l3.2 3.2L13 4.5",
  flag: "M3.5 14V2.5M3.5 3h8.5l-2 2.7 2 2.8H3.5",
  question: "M5.5 5.5a2.6 2.6 0 1 1 3.6 2.6c-.8.4-1.1.8-1.1 1.7M8 12.6h.01",
  ear: "M5 6.5a3.2 3.2 0 1 1 5.6 2c-1 1-1.4 1.5-1.4 2.7A2 2 0 0 1 5.6 12M7 6.6a1.3 1.3 0 1 1 2 1",
  quote: "M3 8.5v-3h3v3c0 2-1 3-2.5 3.5M9.5 8.5v-3h3v3c0 2-1 3-2.5 3.5",
  crown: "M2.5 12.5 1.8 5l3.7 2.8L8 3l2.5 4.8L14.2 5l-.7 7.5z",
  share: "M8 10V2M5 4.8 8 2l3 2.8M3.5 8v5.5h9V8",
  settings: "M8 5.8a2.2 2.2 0 1 1 0 4.4 2.2 2.2 0 0 1 0-4.4M8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6 5 5M11 11l1.4 1.4M3.6 12.4 5 11M11 5l1.4-1.4",
  menu: "M3 8h.01M8 8h.01M13 8h.01",
  trash: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9",
  compare: "M2.5 3h4.5v10H2.5zM9 3h4.5v10H9z",
};
const filled = new Set(["play", "stop", "step", "stepBack", "crown"]);

/** @param {string} name @param {number} [size] */
export function icon(name, size = 16) {
  return html`<svg class="icon" width=${size} height=${size} viewBox="0 0 16 16" aria-hidden="true" focusable="false"
    fill=${filled.has(name) ? "currentColor" : "none"} stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
    <path d=${paths[name] ?? paths.question} />
  </svg>`;
}

/** The mark of the house: a bowl with a light in it. @param {number} [size] */
export function mark(size = 28) {
  return html`<svg width=${size} height=${size} viewBox="0 0 28 28" aria-hidden="true" focusable="false">
    <path d="M8 4h12l-1.4 2.6A10 10 0 1 1 9.4 6.6z" fill="none" stroke="var(--accent)" stroke-width="1.8" stroke-linejoin="round" />
    <path d="M4.7 14.5c2.4-1.4 4.6-1.4 7 0s4.6 1.4 7 0 3.4-1.2 4.6-.6A9.3 9.3 0 0 1 4.7 14.500z" fill="var(--accent-2)" />
    <path d="M10.5 17.800c1.8-2.2 4.8-2.2 6.3 0l2.2-1.6v3.6l-2.2-1.5c-1.5 2.1-4.5 2.1-6.3-.5z" fill="var(--gold-mark)" />
  </svg>`;
}
