// @ts-check
/** A creature's face as a small drawing in the page: the same shapes as on the canvas. */
import { html, memo, render } from "page/html";
import { faceInk, faceLight, faceOf, mouths, outlines } from "page/faces";

/** The light on a face, one gradient a tone: in the page once, since every face uses it. */
function addLight() {
  const holder = document.createElement("div");
  holder.className = "hidden";
  render(
    html`<svg width="0" height="0" aria-hidden="true" focusable="false"><defs>
      ${faceLight.map(({ white, black }, tone) => html`<radialGradient id=${`face-light-${tone}`} gradientUnits="userSpaceOnUse" cx="-2" cy="-2" r="24" fx="-6" fy="-8">
        <stop offset="0" stop-color="#fff" stop-opacity=${white} /><stop offset=${white / (white + black)} stop-color="#fff" stop-opacity="0" />
        <stop offset=${white / (white + black)} stop-color="#000" stop-opacity="0" /><stop offset="1" stop-color="#000" stop-opacity=${black} />
      </radialGradient>`)}
    </defs></svg>`,
    holder,
  );
  document.body.append(holder);
}
addLight();

/** @param {{id: string, colour: string, size?: number, isOpen?: boolean, hasCrown?: boolean, isJudge?: boolean, isDim?: boolean}} props */
function draw({ id, colour, size = 36, isOpen = false, hasCrown = false, isJudge = false, isDim = false }) {
  const face = faceOf(id);
  const outline = outlines[face.silhouette];
  return html`<svg class=${`face${isDim ? " is-dim" : ""}`} width=${size * 1.2} height=${size * 1.2} viewBox="-24 -26 52 52" aria-hidden="true" focusable="false">
    <path d=${outline} style=${{ fill: colour }} />
    <path d=${outline} fill=${`url(#face-light-${face.tone})`} />
    ${face.eyes.map(({ x, y, r }) => html`<circle cx=${x} cy=${y} r=${r} fill="#fff" /><circle cx=${x + face.pupil.x} cy=${y + face.pupil.y} r=${face.pupil.r} fill=${faceInk} />`)}
    ${isOpen ? html`<ellipse cx="0" cy="9" rx="3.3" ry="4.1" fill=${faceInk} />` : html`<path d=${mouths[face.mouth]} fill="none" stroke=${faceInk} stroke-width="1.8" stroke-linecap="round" />`}
    ${hasCrown ? html`<path d="M-8-15.5L-9.5-24L-4-20.5L0-25.5L4-20.5L9.5-24L8-15.5z" class="face-crown" />` : null}
    ${isJudge ? html`<path d="M14 7v11M10 18h8M9.5 9h9M9.5 9l-2.2 4.5h4.4zM18.5 9l-2.2 4.5h4.4z" class="face-judge" />` : null}
  </svg>`;
}

export const Face = memo(draw);
