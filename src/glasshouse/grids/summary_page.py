"""`summary.html`: a grid as plots, in one file that asks nobody for anything. Pure: rows in, a text out.

Always holds: every name and number of a plot is also text: in a label, in the title of a mark, and in the table below the plots.
Winners have a colour and a letter, so no plot depends on colours alone. Nothing that a world or a file says becomes markup.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from string import ascii_uppercase
from typing import Final, NamedTuple

from glasshouse.contests.measures import Measure, quantile, share
from glasshouse.grids.rows import Row
from glasshouse.grids.summary import Group, groups_of, summary_of, winners_of

squares_max: Final = 2_000
"""How many cells of a group the map of seeds shows: more cannot be told apart."""
colours_max: Final = 8
"""Winners beyond these have no colour of their own."""

_WIDTH: Final = 860
_LABEL: Final = 210
_SQUARE: Final = 15
_ROW: Final = 22
_STYLE: Final = """
:root { color-scheme: light dark; --paper: #fbfaf7; --card: #fff; --ink: #1d2321; --soft: #59635f; --line: #dcd9d0;
  --c0: #0b6e4f; --c1: #c2571a; --c2: #3d5a98; --c3: #8a5a00; --c4: #7a3b8f; --c5: #a3293d; --c6: #1f7a8c; --c7: #5b6236;
  --c8: #6b7370; --on: #fff; }
@media (prefers-color-scheme: dark) { :root { --paper: #141917; --card: #1c2320; --ink: #e9ece8; --soft: #a4afa9; --line: #36403b;
  --c0: #5fd0a5; --c1: #f39a63; --c2: #93b2f5; --c3: #e3b75a; --c4: #d3a0e6; --c5: #f28a9b; --c6: #6fd0e0; --c7: #bcc68a;
  --c8: #9aa5a0; --on: #10140f; } }
* { box-sizing: border-box } body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 ui-sans-serif, system-ui, sans-serif }
main { max-width: 940px; margin: 0 auto; padding: 28px 20px 60px }
h1 { font-size: 1.7rem; margin: 0 0 4px } h2 { font-size: 1.25rem; margin: 44px 0 4px } h3 { font-size: 1rem; margin: 20px 0 6px }
p { margin: 4px 0 } .plot + p { margin-top: 16px } .soft { color: var(--soft) } .tiles { display: flex; flex-wrap: wrap; gap: 12px; margin: 18px 0 }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 10px 16px; min-width: 118px }
.tile b { display: block; font-size: 1.45rem; line-height: 1.2 } .plot { background: var(--card); border: 1px solid var(--line);
  border-radius: 10px; padding: 12px; overflow-x: auto } svg { display: block; width: 100%; min-width: 620px; height: auto }
svg text { font: 12.5px ui-sans-serif, system-ui, sans-serif; fill: var(--ink) } svg .soft { fill: var(--soft) }
svg .line { stroke: var(--line); stroke-width: 1 } svg .on { fill: var(--on); font-size: 9.5px; font-weight: 600 }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 8px 0; padding: 0; list-style: none }
.legend span { display: inline-block; min-width: 1.35em; border-radius: 4px; color: var(--on); text-align: center; font-size: .8rem;
  font-weight: 600; margin-right: 6px }
table { border-collapse: collapse; width: 100%; font-size: .86rem } th, td { text-align: left; padding: 3px 10px 3px 0;
  border-bottom: 1px solid var(--line) } td.n { font-variant-numeric: tabular-nums; text-align: right } details { margin-top: 40px }
summary { cursor: pointer; font-weight: 600 } .scroll { overflow-x: auto }
"""
_COLOURS: Final = "".join(
    f".f{n}{{fill:var(--c{n})}}.s{n}{{stroke:var(--c{n})}}.b{n}{{background:var(--c{n})}}"
    for n in range(colours_max + 1)
)

_INTERVALS: Final = '<p class="soft">Dots: the share of cells. Bars: its 95 % interval (Wilson).</p>'
_SQUARES: Final = '<p class="soft">A square for each cell, the same seeds under one another.</p>'
_LINES: Final = '<p class="soft">Lines: nine tenths of the cells. Boxes: the middle half. Marks and figures: the median.</p>'


class Winner(NamedTuple):
    """How the plots of a world show somebody who won."""

    name: str
    letter: str
    colour: int


def page_of(rows: Sequence[Row]) -> str:
    """All plots of a grid."""
    done = [row for row in rows if row.is_done]
    groups = groups_of(rows)
    worlds = dict.fromkeys(row.world for row in rows)
    sections = "".join(_world(world, [group for group in groups if group.world == world]) for world in worlds)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Grid · Glasshouse</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<style>{_STYLE}{_COLOURS}</style></head><body><main><h1>What came of the grid</h1>"
        f'<p class="soft">{_axes(rows)}</p>{_tiles(rows, done)}{sections}{_table(rows)}</main></body></html>\n'
    )


def _axes(rows: Sequence[Row]) -> str:
    nouns = {"world": "world", "what_if": "what-if", "models": "model", "rng_seed": "seed"}
    counts = {noun: len({getattr(row, field) for row in rows}) for field, noun in nouns.items()}
    return " \u00d7 ".join(f"{count:,} {noun}{'' if count == 1 else 's'}" for noun, count in counts.items())


def _tiles(rows: Sequence[Row], done: Sequence[Row]) -> str:
    costs = [row.usd for row in done]
    usd = None if None in costs else sum(cost or 0.0 for cost in costs)
    tiles = {
        "cells done": f"{len(done):,}",
        "failed": f"{len(rows) - len(done):,}",
        "cost": "unknown" if usd is None else _dollars(usd),
        "model calls": f"{sum(row.calls for row in done):,}",
        "tokens": _short(sum(row.tokens for row in done)),
        "turns": f"{sum(row.turns for row in done):,}",
    }
    shown = "".join(
        f'<div class="tile"><b>{value}</b><span class="soft">{name}</span></div>'
        for name, value in tiles.items()
    )
    return f'<div class="tiles">{shown}</div>'


def _world(world: str, groups: Sequence[Group]) -> str:
    """The plots of one world: who wins, by seed too, how long it took, what it cost."""
    done = [row for group in groups for row in group.done]
    if not done:
        return f"<h2>{escape(world)}</h2><p>No cell was played to its end.</p>"
    known = winners_of(done)
    winners = {name: _winner(name, number) for number, name in enumerate(known)}
    what_ifs = dict.fromkeys(group.what_if for group in groups)
    by_what_if = [(name, [group for group in groups if group.what_if == name]) for name in what_ifs]
    parts = [f"<h2>{escape(world)}</h2>", "<h3>Who wins</h3>", _legend(winners.values()), _INTERVALS]
    parts += [_who_wins(name, mine, winners) for name, mine in by_what_if]
    parts += ["<h3>Who wins, seed by seed</h3>", _SQUARES]
    parts += [_seed_map(name, mine, winners) for name, mine in by_what_if]
    parts += [
        "<h3>How long it takes</h3>",
        _LINES,
        _spreads(groups, "turns", [[row.turns for row in group.done] for group in groups]),
    ]
    parts += [_costs(groups)]
    return "".join(parts)


def _winner(name: str | None, number: int) -> Winner:
    if name is None:
        return Winner("nobody", "-", colours_max)
    return Winner(name, ascii_uppercase[number % len(ascii_uppercase)], min(number, colours_max))


def _legend(winners: Iterable[Winner]) -> str:
    items = "".join(
        f'<li><span class="b{each.colour}">{each.letter}</span>{escape(each.name)}</li>' for each in winners
    )
    return f'<ul class="legend">{items}</ul>'


def _who_wins(what_if: str, groups: Sequence[Group], winners: Mapping[str | None, Winner]) -> str:
    """For each model and winner: the share of its cells as a dot, and its interval as a bar, on one axis."""
    marks: list[str] = []
    y = 26
    for group in groups:
        marks.append(_label(y + 4, group.models))
        for name, winner in winners.items():
            measure = share(row.winner == name for row in group.done)
            marks.append(_interval(y, winner, measure, f"{group.models}: won by {winner.name}"))
            y += _ROW
        marks.append(f'<line class="line" x1="0" x2="{_WIDTH}" y1="{y - 8}" y2="{y - 8}"/>')
        y += 6
    axis = "".join(_tick(part, y, f"{part:.0%}") for part in (0, 0.25, 0.5, 0.75, 1))
    return _plot(f"What if: {what_if}", y + 14, axis + "".join(marks), f"Who wins, {what_if}")


def _interval(y: int, winner: Winner, measure: Measure, words: str) -> str:
    if measure.value is None or measure.low is None or measure.high is None:
        return f'<text class="soft" x="{_LABEL}" y="{y + 4}">no cell</text>'
    title = (
        f"{words}: {measure.value:.0%}, 95 % interval {measure.low:.0%} to {measure.high:.0%}, n {measure.n}"
    )
    low, middle, high = (_x(part) for part in (measure.low, measure.value, measure.high))
    return (
        f"<g><title>{escape(title)}</title>"
        f'<rect class="f{winner.colour}" opacity="0.3" rx="5" x="{low:.1f}" y="{y - 5}" width="{max(2, high - low):.1f}" height="10"/>'
        f'<circle class="f{winner.colour}" cx="{middle:.1f}" cy="{y}" r="6"/>'
        f'<text class="on" x="{middle:.1f}" y="{y + 3.4}" text-anchor="middle">{winner.letter}</text>'
        f'<text class="soft" x="{_WIDTH}" y="{y + 4}" text-anchor="end">{measure.value:.0%} of {measure.n}</text></g>'
    )


def _seed_map(what_if: str, groups: Sequence[Group], winners: Mapping[str | None, Winner]) -> str:
    """A square for each cell, in the order of seeds: row by row the same seeds for every model."""
    columns = (_WIDTH - _LABEL) // _SQUARE
    marks: list[str] = []
    y = 8
    for group in groups:
        rows = sorted(group.done, key=lambda row: (row.rng_seed, row.repeat))
        marks.append(_label(y + 11, group.models))
        for number, row in enumerate(rows[:squares_max]):
            x = _LABEL + number % columns * _SQUARE
            marks.append(_square(x, y + number // columns * _SQUARE, row, winners[row.winner]))
        y += max(1, math.ceil(min(len(rows), squares_max) / columns)) * _SQUARE + 10
        if len(rows) > squares_max:
            marks.append(
                f'<text class="soft" x="{_LABEL}" y="{y + 4}">the first {squares_max:,} of {len(rows):,} cells</text>'
            )
            y += 16
    return _plot(f"What if: {what_if}", y, "".join(marks), f"Who wins seed by seed, {what_if}")


def _square(x: int, y: int, row: Row, winner: Winner) -> str:
    title = f"seed {row.rng_seed}{f', repeat {row.repeat}' if row.repeat > 1 else ''}: {winner.name}, {row.turns} turns"
    return (
        f'<g><title>{escape(title)}</title><rect class="f{winner.colour}" x="{x}" y="{y}" width="13" height="13" rx="3"/>'
        f'<text class="on" x="{x + 6.5}" y="{y + 10}" text-anchor="middle">{winner.letter}</text></g>'
    )


def _costs(groups: Sequence[Group]) -> str:
    """What cells cost in dollars, or, where that is unknown or nothing, in tokens."""
    done = [row for group in groups for row in group.done]
    is_priced = all(row.usd is not None for row in done) and any(row.usd for row in done)
    if is_priced:
        values = [[row.usd or 0.0 for row in group.done] for group in groups]
        return "<h3>What it costs</h3>" + _spreads(groups, "dollars a cell", values)
    why = "No cell cost money." if all(row.usd == 0 for row in done) else "A price is unknown."
    values = [[float(row.tokens) for row in group.done] for group in groups]
    return f'<h3>What it costs</h3><p class="soft">{why} Tokens of a cell:</p>' + _spreads(
        groups, "tokens", values
    )


def _spreads(groups: Sequence[Group], unit: str, values: Sequence[Sequence[float]]) -> str:
    """For each group, where its values lie: a thin line for nine tenths, a thick one for the middle half, a mark for the median."""
    most = _round_up(max([max(mine) for mine in values if mine], default=1) or 1)
    several = len({group.what_if for group in groups}) > 1
    marks: list[str] = []
    y = 22
    for group, mine in zip(groups, values, strict=True):
        marks.append(_label(y + 4, f"{group.models}, {group.what_if}" if several else group.models))
        if mine:
            marks.append(
                _spread(y, [quantile(mine, q).value or 0 for q in (0.05, 0.25, 0.5, 0.75, 0.95)], most, unit)
            )
        y += _ROW + 4
    ticks = "".join(_tick(part, y, _short(most * part)) for part in (0, 0.25, 0.5, 0.75, 1))
    return _plot(unit, y + 14, ticks + "".join(marks), unit)


def _spread(y: int, at: Sequence[float], most: float, unit: str) -> str:
    low, first, middle, third, high = (_x(value / most) for value in at)
    title = f"median {_short(at[2])} {unit}, half between {_short(at[1])} and {_short(at[3])}, nine tenths between {_short(at[0])} and {_short(at[4])}"
    return (
        f'<g><title>{escape(title)}</title><line class="s2" stroke-width="2" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>'
        f'<rect class="f2" opacity="0.45" rx="4" x="{first:.1f}" y="{y - 6}" width="{max(3, third - first):.1f}" height="12"/>'
        f'<rect class="f2" x="{middle - 1.5:.1f}" y="{y - 8}" width="3" height="16"/>'
        f'<text class="soft" x="{_WIDTH}" y="{y + 4}" text-anchor="end">{_short(at[2])}</text></g>'
    )


def _table(rows: Sequence[Row]) -> str:
    lines = []
    for figure in summary_of(rows):
        measure = figure.value
        numbers = [_number(figure.measure, each) for each in (measure.value, measure.low, measure.high)]
        names = "".join(f"<td>{escape(text)}</td>" for text in figure[:4])
        lines.append(
            f"<tr>{names}{''.join(f'<td class=n>{each}</td>' for each in numbers)}<td class=n>{measure.n:,}</td></tr>"
        )
    heads = "".join(
        f"<th>{name}</th>" for name in ("world", "what if", "models", "measure", "value", "from", "to", "n")
    )
    return (
        "<details><summary>All figures, with 95 % intervals</summary>"
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{"".join(lines)}</tbody></table></div></details>'
    )


def _number(measure: str, value: float | None) -> str:
    if value is None:
        return "unknown" if measure == "usd" else ""
    is_share = measure in {"failed", "nobody won"} or measure.startswith(("won by ", "ended: "))
    return f"{value:.1%}" if is_share else f"{value:.4f}" if measure == "usd" else f"{value:,.1f}"


def _plot(caption: str, height: int, marks: str, words: str) -> str:
    return (
        f'<p class="soft">{escape(caption)}</p><div class="plot" tabindex="0" role="group" aria-label="{escape(caption)}"><svg viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="{escape(words)}. The table below has the figures.">{marks}</svg></div>'
    )


def _label(y: float, text: str) -> str:
    short = text if len(text) <= 30 else f"{text[:29]}…"
    return f'<text x="0" y="{y}"><title>{escape(text)}</title>{escape(short)}</text>'


def _tick(part: float, height: int, text: str) -> str:
    x = _x(part)
    return (
        f'<line class="line" x1="{x:.1f}" x2="{x:.1f}" y1="10" y2="{height - 6}"/>'
        f'<text class="soft" x="{x:.1f}" y="{height + 9}" text-anchor="middle">{text}</text>'
    )


def _x(part: float) -> float:
    """Where a part of an axis is."""
    return _LABEL + 10 + min(1.0, max(0.0, part)) * (_WIDTH - _LABEL - 100)


def _round_up(value: float) -> float:
    """The next number of which a quarter, a half and three quarters read well on an axis."""
    step: float = 10.0 ** math.floor(math.log10(value))
    return next(
        step * factor for factor in (1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 12) if step * factor >= value * 0.999
    )


def _short(value: float) -> str:
    """A number in few characters."""
    if value >= 10_000:
        for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
            if value >= size:
                return f"{value / size:.3g}{letter}"
    return f"{value:.4g}" if value < 1 else f"{value:,.4g}" if value < 1_000 else f"{value:,.0f}"


def _dollars(usd: float) -> str:
    return f"${usd:,.2f}" if usd >= 0.01 or not usd else f"${usd:.4f}"
