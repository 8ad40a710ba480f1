// @ts-check
/**
 * Faces: form is identity, colour is the graph's. A silhouette, eyes and a mouth come from a hash of the id and never change.
 *
 * The shapes are paths in a square of forty units round the middle. The canvas (`drawFace`) and the page's own drawings
 * (`page/face`) share them, so that a creature looks the same in both.
 */

/** The 32-bit FNV-1a hash of a text, unsigned: a signed one would be no index. @param {string} text */
export function hashOf(text) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

export const faceInk = "#10222a";
/** Half the side of the square that the shapes are drawn in. */
export const faceUnits = 20;
const silhouettes = /** @type {const} */ (["circle", "scallop", "dome", "squircle", "cat", "fish"]);

/** @type {{[silhouette: string]: string}} */
export const outlines = {
  circle: "M0-19A19 19 0 1 1 0 19A19 19 0 1 1 0-19z",
  scallop: scallop(11, 17.2, 5.3),
  dome: "M-18.5 4C-18.5-11-11-19 0-19S18.5-11 18.5 4C18.5 13 16.5 18 9.5 18H-9.5C-16.5 18-18.5 13-18.5 4z",
  squircle: "M-10-18H10Q18-18 18-10V10Q18 18 10 18H-10Q-18 18-18 10V-10Q-18-18-10-18z",
  cat: "M-16.8-20.6Q-15.8-21-15-20.4L-7.6-15.2Q0-17.4 7.6-15.2L15-20.4Q15.8-21 16.8-20.6Q17.4-20.4 17.5-19.4C18.6-12 19-6 18.6 0C17.8 12 10 19.2 0 19.2S-17.8 12-18.6 0C-19-6-18.6-12-17.5-19.4Q-17.4-20.4-16.8-20.6z",
  fish: "M-2-18A18 18 0 1 1-2 18A18 18 0 1 1-2-18zM15 0L26.5-9.3Q23.4 0 26.5 9.3z",
};

/** @type {{[mouth: number]: string}} */
export const mouths = { 0: "M-4.6 7.2Q0 12.2 4.6 7.2", 1: "M-4.2 8.9H4.2", 2: "M-3.3 8Q0 10.8 3.3 8" };

/** @param {number} bumps @param {number} radius of the dents @param {number} bump radius of a bump */
function scallop(bumps, radius, bump) {
  const points = Array.from({ length: bumps }, (_, at) => {
    const angle = ((at + 0.5) / bumps) * Math.PI * 2 - Math.PI / 2;
    return `${(Math.cos(angle) * radius).toFixed(2)} ${(Math.sin(angle) * radius).toFixed(2)}`;
  });
  return `M${points[0]}${[...points.slice(1), points[0]].map((point) => `A${bump} ${bump} 0 0 1 ${point}`).join("")}z`;
}

/**
 * @typedef {{silhouette: typeof silhouettes[number], eyes: {x: number, y: number, r: number}[], pupil: {x: number, y: number, r: number},
 *   mouth: 0|1|2, tone: 0|1|2}} Face
 * @param {string} handle
 * @returns {Face}
 */
export function faceOf(handle) {
  // A branch has the same creatures under new ids, and in a merged graph a second "wick" is "wick~2": handles tell who they are.
  const hash = hashOf(handle.replace(/~\d+$/, ""));
  const hasOneEye = (hash >>> 8) % 3 === 0;
  const look = [-1, 1, -0.6][(hash >>> 20) % 3];
  const y = -3;
  return {
    silhouette: silhouettes[hash % 6],
    eyes: hasOneEye ? [{ x: 0, y, r: 7.4 }] : [-6.3, 6.3].map((x) => ({ x, y, r: 5 })),
    pupil: hasOneEye ? { x: look * 1.6, y: -0.2, r: 3.7 } : { x: look * 1.3, y: 0.1, r: 2.6 },
    mouth: /** @type {0|1|2} */ ((hash >>> 12) % 3),
    tone: /** @type {0|1|2} */ ((hash >>> 16) % 3),
  };
}

/** How the light falls on a ball, by tone: shares of white in the light and of black in the shade. */
export const faceLight = [
  { white: 0.42, black: 0.02 },
  { white: 0.32, black: 0.1 },
  { white: 0.22, black: 0.19 },
];

/** @type {Map<string, Path2D>} */
const paths = new Map();
/** @param {string} shape */
function path(shape) {
  let drawn = paths.get(shape);
  if (!drawn) paths.set(shape, (drawn = new Path2D(shape)));
  return drawn;
}

/**
 * Draw a face on a canvas.
 * @param {CanvasRenderingContext2D} pen
 * @param {Face} face
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @param {string} colour six hex digits
 * @param {{isOpen?: boolean, isBlinking?: boolean, shadow?: {colour: string, blur: number, y: number}}} [how]
 */
export function drawFace(pen, face, x, y, radius, colour, how = {}) {
  const unit = radius / faceUnits;
  const { white, black } = faceLight[face.tone];
  pen.save();
  pen.translate(x, y);
  pen.scale(unit, unit);
  const light = pen.createRadialGradient(-6, -8, 1, -2, -2, 24);
  light.addColorStop(0, mixed(colour, "#ffffff", white));
  light.addColorStop(1, mixed(colour, "#000000", black));
  if (how.shadow) {
    pen.shadowColor = how.shadow.colour;
    pen.shadowBlur = how.shadow.blur;
    pen.shadowOffsetY = how.shadow.y;
  }
  pen.fillStyle = light;
  pen.fill(path(outlines[face.silhouette]));
  pen.shadowColor = "transparent";
  for (const eye of face.eyes) drawEye(pen, eye, face.pupil, how.isBlinking ?? false);
  drawMouth(pen, face.mouth, how.isOpen ?? false);
  pen.restore();
}

/** @param {CanvasRenderingContext2D} pen @param {{x: number, y: number, r: number}} eye @param {{x: number, y: number, r: number}} pupil @param {boolean} isBlinking */
function drawEye(pen, eye, pupil, isBlinking) {
  if (isBlinking) {
    pen.strokeStyle = faceInk;
    pen.lineWidth = 1.6;
    pen.lineCap = "round";
    pen.beginPath();
    pen.arc(eye.x, eye.y - eye.r * 0.5, eye.r, Math.PI * 0.25, Math.PI * 0.75);
    pen.stroke();
    return;
  }
  pen.fillStyle = "#ffffff";
  pen.beginPath();
  pen.arc(eye.x, eye.y, eye.r, 0, Math.PI * 2);
  pen.fill();
  pen.fillStyle = faceInk;
  pen.beginPath();
  pen.arc(eye.x + pupil.x, eye.y + pupil.y, pupil.r, 0, Math.PI * 2);
  pen.fill();
}

/** @param {CanvasRenderingContext2D} pen @param {0|1|2} mouth @param {boolean} isOpen */
function drawMouth(pen, mouth, isOpen) {
  if (isOpen) {
    pen.fillStyle = faceInk;
    pen.beginPath();
    pen.ellipse(0, 9, 3.3, 4.1, 0, 0, Math.PI * 2);
    pen.fill();
    return;
  }
  pen.strokeStyle = faceInk;
  pen.lineWidth = 1.8;
  pen.lineCap = "round";
  pen.stroke(path(mouths[mouth]));
}

/** A colour of six hex digits, mixed with another. @param {string} colour @param {string} other @param {number} share */
export function mixed(colour, other, share) {
  const part = (/** @type {string} */ hex, /** @type {number} */ at) => parseInt(hex.slice(at, at + 2), 16);
  const mix = [1, 3, 5].map((at) => Math.round(part(colour, at) * (1 - share) + part(other, at) * share));
  return `#${mix.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
