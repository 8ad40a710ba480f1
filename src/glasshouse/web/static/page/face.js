// @ts-check
/** A creature's face as a small drawing in the page: the same forms as on the canvas. */
import { html, memo } from "page/html";
import { faceOf } from "page/faces";

/** Outlines in a square of forty units round the middle. @type {{[silhouette: string]: string}} */
const outlines = {
  circle: "M0-19A19 19 0 1 1 0 19A19 19 0 1 1 0-19z",
  scallop: scallop(),
  dome: "M-19-1A19 19 0 0 1 19-1C19.6 18 17 18 11 18H-11C-17 18-19.6 18-19-1z",
  squircle: "M-6-18H6Q18-18 18-6V6Q18 18 6 18H-6Q-18 18-18 6V-6Q-18-18-6-18z",
  cat: "M-17.4-6L-15.6-21L-4-18H4L15.6-21L17.4-6A18.4 18.4 0 1 1-17.4-6z",
  fish: "M15.2 7.3A18 18 0 1 1 15.2-7.3L26.4-10L23.6 0L26.4 10z",
};

function scallop() {
  const points = Array.from({ length: 73 }, (_, at) => {
    const angle = (at / 72) * Math.PI * 2;
    const reach = 18.8 + 1.2 * Math.cos(angle * 12);
    return `${(Math.cos(angle) * reach).toFixed(2)} ${(Math.sin(angle) * reach).toFixed(2)}`;
  });
  return `M${points.join("L")}z`;
}

/** @type {{[mouth: number]: string}} */
const mouths = { 0: "M-4.6 7.2Q0 11.8 4.6 7.2", 1: "M-3.6 8.4H3.6", 2: "M-2.6 7.6Q0 10.2 2.6 7.6" };

/** @param {{id: string, colour: string, size?: number, isOpen?: boolean, hasCrown?: boolean, isJudge?: boolean, isDim?: boolean}} props */
function draw({ id, colour, size = 36, isOpen = false, hasCrown = false, isJudge = false, isDim = false }) {
  const face = faceOf(id);
  const eyes = face.eyes === 1 ? [0] : [-6.8, 6.8];
  const radius = face.eyes === 1 ? 6.8 : 4.8;
  return html`<svg class=${`face${isDim ? " is-dim" : ""}`} width=${size * 1.2} height=${size * 1.2} viewBox="-24 -24 52 48" aria-hidden="true" focusable="false">
    <path d=${outlines[face.silhouette]} class=${`face-body tone-${face.tone}`} style=${{ fill: colour }} />
    <path d=${outlines[face.silhouette]} class=${`face-shade tone-${face.tone}`} />
    <ellipse cx="-6" cy="-11" rx="9" ry="5" fill="#fff" opacity=".13" />
    ${eyes.map((x) => html`<circle cx=${x} cy="-2.8" r=${radius} fill="#fff" /><circle cx=${x} cy="-2.4" r=${radius * 0.52} fill="#10222a" />`)}
    ${isOpen ? html`<ellipse cx="0" cy="8.4" rx="3" ry="3.8" fill="#10222a" />` : html`<path d=${mouths[face.mouth]} fill="none" stroke="#10222a" stroke-width="1.7" stroke-linecap="round" />`}
    ${hasCrown ? html`<path d="M-8-16L-9.5-24.5L-4-21L0-25.5L4-21L9.5-24.5L8-16z" class="face-crown" />` : null}
    ${isJudge ? html`<path d="M12 8v10M8 18h8M8.5 10h7M8.5 10l-2 4h4zM15.5 10l-2 4h4z" class="face-judge" />` : null}
  </svg>`;
}

export const Face = memo(draw);
