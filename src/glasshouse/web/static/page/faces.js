// @ts-check
/**
 * Faces: form is identity, colour is the graph's. A silhouette, eyes and a mouth come from a hash of the id and never change.
 */

/** The 32-bit FNV-1a hash of a text, unsigned: a signed one would be no index. @param {string} text */
export function hashOf(text) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** Graphs' colours are the only ones that a face has. */
const inkColour = "#10222a";
const silhouettes = /** @type {const} */ (["circle", "scallop", "dome", "squircle", "cat", "fish"]);

/**
 * @typedef {{silhouette: typeof silhouettes[number], eyes: 1|2, mouth: 0|1|2, tone: 0|1|2}} Face
 * @param {string} id
 * @returns {Face}
 */
export function faceOf(id) {
  const hash = hashOf(id);
  return {
    silhouette: silhouettes[hash % 6],
    eyes: (hash >>> 8) % 3 === 0 ? 1 : 2,
    mouth: /** @type {0|1|2} */ ((hash >>> 12) % 3),
    tone: /** @type {0|1|2} */ ((hash >>> 16) % 3),
  };
}

/**
 * Draw a face on a canvas.
 * @param {CanvasRenderingContext2D} pen
 * @param {Face} face
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @param {string} colour
 * @param {{isOpen?: boolean, lookX?: number, ink?: string, isBlinking?: boolean}} [how]
 */
export function drawFace(pen, face, x, y, radius, colour, how = {}) {
  pen.save();
  pen.translate(x, y);
  outline(pen, face.silhouette, radius);
  const light = pen.createRadialGradient(-radius * 0.35, -radius * 0.45, radius * 0.1, 0, 0, radius * 1.15);
  light.addColorStop(0, mixed(colour, "#ffffff", 0.38 - 0.1 * face.tone));
  light.addColorStop(1, mixed(colour, "#000000", 0.05 + 0.09 * face.tone));
  pen.fillStyle = light;
  pen.fill();
  drawEyes(pen, face, radius, how);
  drawMouth(pen, face.mouth, radius, how);
  pen.restore();
}

/** @param {CanvasRenderingContext2D} pen @param {string} silhouette @param {number} r */
function outline(pen, silhouette, r) {
  pen.beginPath();
  if (silhouette === "scallop") {
    for (let at = 0; at <= 72; at += 1) {
      const angle = (at / 72) * Math.PI * 2;
      const reach = r * (0.94 + 0.06 * Math.cos(angle * 12));
      pen.lineTo(Math.cos(angle) * reach, Math.sin(angle) * reach);
    }
  } else if (silhouette === "dome") {
    pen.arc(0, -r * 0.05, r * 0.95, Math.PI, 0);
    pen.quadraticCurveTo(r * 0.98, r * 0.9, r * 0.55, r * 0.9);
    pen.lineTo(-r * 0.55, r * 0.9);
    pen.quadraticCurveTo(-r * 0.98, r * 0.9, -r * 0.95, -r * 0.05);
  } else if (silhouette === "squircle") {
    pen.roundRect(-r * 0.9, -r * 0.9, r * 1.8, r * 1.8, r * 0.62);
  } else if (silhouette === "cat") {
    pen.moveTo(-r * 0.86, -r * 0.3);
    pen.lineTo(-r * 0.78, -r * 1.05);
    pen.lineTo(-r * 0.2, -r * 0.9);
    pen.lineTo(r * 0.2, -r * 0.9);
    pen.lineTo(r * 0.78, -r * 1.05);
    pen.lineTo(r * 0.86, -r * 0.3);
    pen.arc(0, 0, r * 0.92, -0.33, Math.PI + 0.33);
  } else if (silhouette === "fish") {
    pen.arc(-r * 0.06, 0, r * 0.9, 0.42, Math.PI * 2 - 0.42);
    pen.lineTo(r * 1.32, -r * 0.5);
    pen.lineTo(r * 1.18, 0);
    pen.lineTo(r * 1.32, r * 0.5);
  } else {
    pen.arc(0, 0, r * 0.95, 0, Math.PI * 2);
  }
  pen.closePath();
}

/** @param {CanvasRenderingContext2D} pen @param {Face} face @param {number} r @param {{lookX?: number, isBlinking?: boolean}} how */
function drawEyes(pen, face, r, how) {
  const places = face.eyes === 1 ? [0] : [-r * 0.34, r * 0.34];
  const size = face.eyes === 1 ? r * 0.34 : r * 0.24;
  for (const x of places) {
    if (how.isBlinking) {
      pen.fillStyle = inkColour;
      pen.fillRect(x - size, -r * 0.16, size * 2, Math.max(1.5, r * 0.07));
      continue;
    }
    pen.beginPath();
    pen.arc(x, -r * 0.14, size, 0, Math.PI * 2);
    pen.fillStyle = "#ffffff";
    pen.fill();
    pen.beginPath();
    pen.arc(x + size * 0.25 * (how.lookX ?? 0), -r * 0.12, size * 0.52, 0, Math.PI * 2);
    pen.fillStyle = inkColour;
    pen.fill();
  }
}

/** @param {CanvasRenderingContext2D} pen @param {0|1|2} mouth @param {number} r @param {{isOpen?: boolean}} how */
function drawMouth(pen, mouth, r, how) {
  pen.strokeStyle = inkColour;
  pen.fillStyle = inkColour;
  pen.lineWidth = Math.max(1.2, r * 0.08);
  pen.lineCap = "round";
  pen.beginPath();
  if (how.isOpen) {
    pen.ellipse(0, r * 0.42, r * 0.15, r * 0.19, 0, 0, Math.PI * 2);
    pen.fill();
  } else if (mouth === 0) {
    pen.arc(0, r * 0.3, r * 0.24, 0.25, Math.PI - 0.25);
    pen.stroke();
  } else if (mouth === 1) {
    pen.moveTo(-r * 0.18, r * 0.42);
    pen.lineTo(r * 0.18, r * 0.42);
    pen.stroke();
  } else {
    pen.arc(0, r * 0.36, r * 0.13, 0.1, Math.PI - 0.1);
    pen.stroke();
  }
}

/** A colour of six hex digits, mixed with another. @param {string} colour @param {string} other @param {number} share */
export function mixed(colour, other, share) {
  const part = (/** @type {string} */ hex, /** @type {number} */ at) => parseInt(hex.slice(at, at + 2), 16);
  const mix = [1, 3, 5].map((at) => Math.round(part(colour, at) * (1 - share) + part(other, at) * share));
  return `#${mix.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
