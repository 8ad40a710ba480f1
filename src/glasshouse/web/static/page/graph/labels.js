// @ts-check
/** Where names stand: below their node, or wherever they hide least. */

/** @typedef {{left: number, top: number, right: number, bottom: number}} Box */
/** @typedef {{id: string, x: number, y: number, r: number, width: number, above: number, isChannel: boolean}} Named */

const height = 16;
const slots = { creature: ["below", "right", "left", "above"], channel: ["below", "right", "left", "above"] };
const dislike = { below: 0, right: 260, left: 260, above: 320 };

/** The middle of a label's line of text. @param {Named} node @param {string} slot */
export function labelPoint(node, slot) {
  const gap = node.isChannel ? 5 : 8;
  if (slot === "right") return { x: node.x + node.r + gap + node.width / 2, y: node.y };
  if (slot === "left") return { x: node.x - node.r - gap - node.width / 2, y: node.y };
  if (slot === "above") return { x: node.x, y: node.y - node.r - node.above - gap - height / 2 };
  return { x: node.x, y: node.y + node.r + gap + height / 2 };
}

/** The box of a label. @param {Named} node @param {string} slot @returns {Box} */
export function labelBox(node, slot) {
  const { x, y } = labelPoint(node, slot);
  return { left: x - node.width / 2, right: x + node.width / 2, top: y - height / 2, bottom: y + height / 2 };
}

/** @param {Box} a @param {Box} b */
function shared(a, b) {
  const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const tall = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  return width > 0 && tall > 0 ? width * tall : 0;
}

/** How much of a line lies in a box, roughly. @param {Box} box @param {{x1: number, y1: number, x2: number, y2: number}} line */
function crossing(box, { x1, y1, x2, y2 }) {
  let [from, to] = [0, 1];
  for (const [start, delta, low, high] of [[x1, x2 - x1, box.left, box.right], [y1, y2 - y1, box.top, box.bottom]]) {
    if (delta === 0) {
      if (start < low || start > high) return 0;
      continue;
    }
    const [a, b] = [(low - start) / delta, (high - start) / delta];
    from = Math.max(from, Math.min(a, b));
    to = Math.min(to, Math.max(a, b));
  }
  return to > from ? (to - from) * Math.hypot(x2 - x1, y2 - y1) : 0;
}

/**
 * The slot of every label. One that is as good as another stays where it was.
 * @param {Named[]} nodes
 * @param {{x1: number, y1: number, x2: number, y2: number}[]} lines
 * @param {Map<string, string>} before
 * @param {(node: Named, box: Box) => boolean} isInHull
 * @param {Box[]} covered by something else
 * @returns {Map<string, string>}
 */
export function placeLabels(nodes, lines, before, isInHull, covered) {
  const bodies = nodes.map(({ id, x, y, r, above }) => ({ id, left: x - r, right: x + r, top: y - r - above, bottom: y + r }));
  /** @type {Map<string, string>} */
  const chosen = new Map();
  const taken = [...covered];
  for (const node of [...nodes].sort((a, b) => Number(a.isChannel) - Number(b.isChannel))) {
    let [best, least] = ["below", Infinity];
    for (const slot of slots[node.isChannel ? "channel" : "creature"]) {
      const box = labelBox(node, slot);
      let cost = dislike[/** @type {keyof typeof dislike} */ (slot)] * (node.isChannel ? 0.25 : 1) - (before.get(node.id) === slot ? 60 : 0);
      if (slot !== "below" && !isInHull(node, box)) cost += 400;
      for (const body of bodies) if (body.id !== node.id) cost += shared(box, body) * 3;
      for (const other of taken) cost += shared(box, other) * 4;
      for (const line of lines) cost += crossing(box, line) * 4;
      if (cost < least) [best, least] = [slot, cost];
    }
    chosen.set(node.id, best);
    taken.push(labelBox(node, best));
  }
  return chosen;
}
