"""What tests run inside a page about the table and the teams: many tables with bubbles round them, and turns folded from records."""

from __future__ import annotations

PLACED = """async ({ counts, sizes, letters, wholeUpTo }) => {
  const { tableFor } = await import("page/table/places");
  const over = (a, b) => a.left < b.right - 0.01 && b.left < a.right - 0.01 && a.top < b.bottom - 0.01 && b.top < a.bottom - 0.01;
  const within = (box, room) => box.left >= room.left - 0.01 && box.right <= room.right + 0.01 && box.top >= room.top - 0.01 && box.bottom <= room.bottom + 0.01;
  // How high a text is, about: 7.1 pixels a letter of the newest line, 6.5 of an older one, which shows five lines.
  const newestHeight = (length) => (width) => 38 + 22 * Math.ceil((length * 7.1) / (width - 26));
  const olderHeight = (length) => (width) => 38 + 20 * Math.min(5, Math.ceil((length * 6.5) / (width - 26)));
  const wrong = [];
  let tried = 0;
  const tryOne = (count, [width, height], roles, length, speaker) => {
    const members = Array.from({ length: count }, (_, at) => ({
      id: `c${at}`, nameWidth: 60 + ((at * 37) % 60), isJudge: at === 0 && roles.includes("judge"), isVisitor: at > 0 && at === count - 1 && roles.includes("visitor"),
    }));
    const rest = members.map(({ id }) => id).filter((_, at) => at !== speaker).slice(0, count > 8 ? 3 : 7);
    const bubbles = [{ id: `c${speaker}`, heightAt: newestHeight(length) }, ...rest.map((id, at) => ({ id, heightAt: olderHeight(40 + ((at * 71) % 200)) }))];
    const { layout, places } = tableFor(members, { width, height }, bubbles);
    const boxes = [...places.values()].map(({ box }) => box);
    const seats = layout.seats.flatMap(({ face, label }) => [face, ...(label ? [label] : [])]);
    const newest = places.get(`c${speaker}`);
    const faults = [
      !newest && "the newest has no place",
      newest && !newest.isWhole && length <= wholeUpTo && "the newest is cut",
      boxes.some((box) => !within(box, layout.room)) && "a bubble leaves the room",
      boxes.some((box) => seats.some((seat) => over(box, seat))) && "a bubble covers a face or a name",
      boxes.some((box, at) => boxes.slice(at + 1).some((other) => over(box, other))) && "two bubbles cover each other",
      layout.seats.some((one, at) => layout.seats.slice(at + 1).some((other) => Math.hypot(one.x - other.x, one.y - other.y) < one.r + other.r)) && "two faces cover each other",
    ].filter(Boolean);
    for (const fault of faults) wrong.push(`${count} at ${width}x${height}, ${roles || "nobody special"}, ${length} letters of seat ${speaker}: ${fault}`);
    tried += 1;
  };
  for (const count of counts) for (const size of sizes) for (const roles of ["", "judge", "judge visitor"]) for (const length of letters) {
    for (const speaker of new Set([0, count >> 1, count - 1])) tryOne(count, size, roles, length, speaker);
  }
  return { tried, wrong: wrong.slice(0, 5) };
}"""
"""Tables of many sizes, each with the newest line of one seat and older ones of others. Answers how many were tried, and the first faults."""

FOLDED = """async ({ records, teams }) => {
  const { countTo, itemAt, noTurns, takeIn, tallyAt } = await import("page/teams/turns");
  const { makeFolding } = await import("page/teams/folding");
  const teamOf = (handle) => Object.keys(teams).find((team) => teams[team].includes(handle)) ?? "";
  const whole = noTurns(0);
  for (const record of records) takeIn(whole, record, teamOf);
  const past = (k) => whole.items.slice(0, countTo(whole.items, k)).map((item) => itemAt(item, k));
  const wrong = [];
  for (const { k } of records) {
    const folded = noTurns(0);
    for (const record of records.slice(0, k)) takeIn(folded, record, teamOf);
    if (JSON.stringify(folded.items) !== JSON.stringify(past(k))) wrong.push(k);
  }
  // Kept between drawings, over jumps back and forth, and with older records that come late.
  let first = records.length - 4;
  const folding = makeFolding((k) => (k >= first ? records[k - 1] : undefined));
  const late = folding.upTo(records.length, "story", teamOf);
  const before = late.from;
  first = 1;
  folding.more();
  folding.upTo(3, "story", teamOf);
  const all = folding.upTo(records.length, "story", teamOf);
  if (before !== records.length - 5 || all.from !== 0 || JSON.stringify(all.items) !== JSON.stringify(whole.items)) wrong.push("kept");
  return { wrong, items: whole.items, tallies: Object.fromEntries(Object.keys(teams).map((team) => [team, tallyAt(whole, team, records.length)])) };
}"""
"""The turns of records; the moments at which the whole fold says something else than the fold until then; and what was counted."""

UNREAD_AT_THE_TABLE = """async (moments) => {
  const { store } = glasshouse;
  const wrong = [];
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const boxOf = (element) => element.getBoundingClientRect();
  const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  const faultAt = () => {
    const spoken = Object.values(store.view().creatures).filter(({ line }) => line?.text);
    const line = spoken.reduce((last, { line }) => (line.n > (last?.n ?? 0) ? line : last), null);
    const bubbles = [...document.querySelectorAll(".table-bubbles .bubble:not(.is-gone)")];
    if (!line) return bubbles.length ? "a bubble before the first line" : "";
    const words = document.querySelector(`.table-bubbles .is-newest[data-n="${line.n}"]:not(.is-gone) .bubble-words`);
    if (words?.textContent !== line.text) return "has no bubble";
    if (words.scrollHeight > words.clientHeight + 1) return "is cut";
    const seats = [...document.querySelectorAll(".table-sitter, .table-label")].map(boxOf);
    return bubbles.map(boxOf).some((box) => seats.some((seat) => over(box, seat))) ? "covers a seat" : "";
  };
  for (const k of moments) {
    await store.seek(k);
    let fault = faultAt();
    for (let frames = 0; fault && frames < 60; frames += 1) {
      await frame();
      fault = faultAt();
    }
    if (fault) wrong.push(`${k}: ${fault}`);
  }
  return wrong;
}"""
"""Moments at which the newest line is not whole at the table, or covers somebody."""
