// @ts-check
/**
 * Which lines of a transcript are shown: all that stand out, those round the moment, and short quiet stretches. The rest is folded.
 *
 * @typedef {import("page/share/lines").Line} Line
 * @typedef {import("page/share/lines").Scene} Scene
 * @typedef {{scene: Scene}|{line: Line}|{fold: Line[]}|{far: number, lines: number, side: "before"|"after"}} Item
 *   `far` is the nearest line that is not shown
 */

const quietLinesMax = 10;
const foldedLinesMin = 4;
const linesAtEdge = 2;
const linesAround = 3;
const itemsAround = 250;

const quietKinds = new Set(["line", "judge", "thought"]);
/** @param {Line} line */
const standsOut = (line) => line.isKept || line.isVerdict || !quietKinds.has(line.kind);

/**
 * The items of a transcript, with long quiet stretches folded, but never the lines round the moment shown.
 * @param {Scene[]} scenes
 * @param {Line|undefined} now the line of the moment shown
 * @param {Set<number>} opened lines that were unfolded
 * @param {boolean} hasMinds whether thoughts are shown
 * @returns {Item[]}
 */
export function itemsOf(scenes, now, opened, hasMinds) {
  /** @type {Item[]} */
  const items = [];
  for (const scene of scenes) {
    if (scene.title) items.push({ scene });
    /** @type {Line[]} */
    let quiet = [];
    for (const line of scene.lines) {
      if (line.kind === "thought" && !hasMinds) continue;
      if (!standsOut(line)) {
        quiet.push(line);
        continue;
      }
      addStretch(items, quiet, now, opened);
      quiet = [];
      items.push({ line });
    }
    addStretch(items, quiet, now, opened);
  }
  return items;
}

/** @param {Item[]} items @param {Line[]} stretch @param {Line|undefined} now @param {Set<number>} opened */
function addStretch(items, stretch, now, opened) {
  if (stretch.length <= quietLinesMax) {
    for (const line of stretch) items.push({ line });
    return;
  }
  const here = now ? stretch.indexOf(now) : -1;
  const isShown = (/** @type {number} */ at) =>
    at < linesAtEdge || at >= stretch.length - linesAtEdge || (here >= 0 && Math.abs(at - here) <= linesAround) || opened.has(stretch[at].k);
  /** @type {Line[]} */
  let quiet = [];
  const end = () => {
    if (quiet.length >= foldedLinesMin) items.push({ fold: quiet });
    else for (const line of quiet) items.push({ line });
    quiet = [];
  };
  stretch.forEach((line, at) => {
    if (!isShown(at)) {
      quiet.push(line);
      return;
    }
    end();
    items.push({ line });
  });
  end();
}

/** Of very many items only those near the moment, and the way to the others: a page with all of them would be slow. @param {Item[]} items @param {Line|undefined} now @returns {Item[]} */
export function near(items, now) {
  if (items.length <= itemsAround * 2) return items;
  const here = Math.max(0, items.findIndex((item) => now !== undefined && firstOf(item) <= now.k && now.k <= lastOf(item)));
  const from = Math.max(0, Math.min(here - itemsAround, items.length - itemsAround * 2));
  const to = Math.min(items.length, from + itemsAround * 2);
  const shown = items.slice(from, to);
  if (from > 0) shown.unshift({ far: lastOf(items[from - 1]), lines: linesIn(items, 0, from), side: "before" });
  if (to < items.length) shown.push({ far: firstOf(items[to]), lines: linesIn(items, to, items.length), side: "after" });
  return shown;
}

/** @param {Item[]} items @param {number} from @param {number} to */
function linesIn(items, from, to) {
  let lines = 0;
  for (let at = from; at < to; at += 1) {
    const item = items[at];
    lines += "fold" in item ? item.fold.length : 1;
  }
  return lines;
}

/** @param {Item} item @returns {number} */
function firstOf(item) {
  if ("line" in item) return item.line.k;
  if ("scene" in item) return item.scene.k;
  return "fold" in item ? item.fold[0].k : item.far;
}

/** @param {Item} item @returns {number} */
const lastOf = (item) => ("fold" in item ? item.fold[item.fold.length - 1].k : firstOf(item));
