"""Whether a text can be read on the page as it stands: whole, in sight, and not covered, wherever it is."""

from __future__ import annotations

READABLE = """
const words = (text) => text.replace(/\\s+/g, " ").trim();
const isVisible = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
const clipping = (element) => {
  const boxes = [{ left: 0, top: 0, right: innerWidth, bottom: innerHeight }];
  for (let up = element; up; up = up.parentElement) {
    const { overflowX, overflowY } = getComputedStyle(up);
    if (overflowX !== "visible" || overflowY !== "visible") boxes.push(up.getBoundingClientRect());
  }
  return boxes;
};
const isInside = (box, room) => box.left >= room.left - 1 && box.right <= room.right + 1 && box.top >= room.top - 1 && box.bottom <= room.bottom + 1;
const isUncovered = (element, rect) => {
  if (getComputedStyle(element).pointerEvents === "none") return true; // It lets points through, so none tells what lies over it.
  const hit = document.elementFromPoint((rect.left + rect.right) / 2, (rect.top + rect.bottom) / 2);
  return hit !== null && (element.contains(hit) || hit.contains(element));
};
/** Whether all of a text node can be seen. */
const isInSight = (node) => {
  const element = node.parentElement;
  if (!element || !isVisible(element)) return false;
  const range = document.createRange();
  range.selectNodeContents(node);
  const rects = [...range.getClientRects()].filter(({ width }) => width > 0);
  const rooms = clipping(element);
  return rects.length > 0 && rects.every((rect) => rooms.every((room) => isInside(rect, room)) && isUncovered(element, rect));
};
/** Where a text can be read: the classes of what holds it. */
const placesOf = (text) => {
  const wanted = words(text);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const places = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (words(node.data) === wanted && isInSight(node)) places.push(node.parentElement.className || node.parentElement.localName);
  }
  return places;
};
const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
"""
"""Functions that a script on the page uses: `placesOf(text)` is what answers the question."""

LINES = """
const linesOf = (store) => {
  const lines = [];
  for (let k = 1; k <= store.head.value; k += 1) {
    const { row, d } = store.record(k);
    if (row.text && d.some(([what, path]) => what === "s" && path[0] === "creatures" && path[2] === "line")) lines.push({ k, text: row.text });
  }
  return lines;
};
const shown = async (store, run) => {
  if (store.session.value.run !== run) await store.open(run);
  while (store.loadedFrom.value > 1 || !store.record(store.head.value)) await frame();
  await document.fonts.ready;
};
"""
"""The lines of a run that is opened: every line that a creature said, with its number."""

UNREAD_LINES = f"""async ([run, longest]) => {{
  {READABLE}
  {LINES}
  const {{ store }} = glasshouse;
  await shown(store, run);
  const lines = linesOf(store);
  if (longest) lines.sort((a, b) => b.text.length - a.text.length).splice(longest);
  const unread = [];
  for (const {{ k, text }} of lines) {{
    await store.seek(k);
    let frames = 0;
    while (!placesOf(text).length && frames < 120) {{
      await frame();
      frames += 1;
    }}
    if (!placesOf(text).length) unread.push(`${{k}}: ${{text}}`);
  }}
  return {{ read: lines.length, unread }};
}}"""
"""Which lines of a run nobody could read at the moment when each was the newest: of all, or of the longest so many."""
