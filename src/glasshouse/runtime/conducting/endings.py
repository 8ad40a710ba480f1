"""Whether a run has ended, and who won: by its scenario, a judge's verdict, or a referee's ruling.

Always holds: only the ledger's folds decide, so the answer is the same after a crash. A referee is built in, or a
function in a Python file beside its world. It returns a valid ruling or None; anything else is an error of its world.
It sees the public lines of its run. If some of those lines are no longer in memory (`was_cut`), a ruling on a line
does not count. A place is where lines are said: see `turns.heard.recent_lines`.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Final, NamedTuple

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from glasshouse.errors import BadWorld
from glasshouse.events import kinds
from glasshouse.events.event import Event, own_copy
from glasshouse.events.payloads import FinishReason, RunFinished
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.minds.code_beside import function_beside, given_back_by, path_beside
from glasshouse.runtime.minds.faults import fault_chars_max
from glasshouse.turns.contests.referees import REFEREES, Match, Referee, Ruling, match_lines_max
from glasshouse.turns.heard.recent_lines import RecentLines
from glasshouse.turns.moment.line_text import cut
from glasshouse.turns.runs.agenda import members_of
from glasshouse.turns.runs.purses import Purse, Spent, stale_lines_max
from glasshouse.world.state.state import GraphState, World


def referee_named(name: str, folder: str | None) -> Referee:
    """The referee that a scenario names: a built-in one, or `file.py:function` in the world's folder."""
    if name in REFEREES:
        return REFEREES[name]
    if folder is None:
        raise BadWorld(
            f"competition: there is no referee {name!r}. Built in are {', '.join(sorted(REFEREES))}."
        )
    referee = function_beside(folder, name, "referee", "it takes a Match, gives a Ruling or None.")
    file, _, function = name.partition(":")
    where = f"{path_beside(folder, file)}: the referee {function}"

    def ruled(match: Match) -> Ruling | None:
        # Whatever the world's code changes in its match, the engine does not notice.
        own = replace(deepcopy(match), hear=lambda: tuple(map(own_copy, match.hear())))
        given = given_back_by(referee, where, own)
        return None if given is None else _sound(given, where)

    return ruled


def _sound(given: object, where: str) -> Ruling:
    """The given object if it is a valid ruling; anything else is refused."""
    try:
        if isinstance(given, Ruling):
            return msgspec.convert(msgspec.to_builtins(given), Ruling)
    except (msgspec.MsgspecError, TypeError, RecursionError):
        pass  # Its fields are not texts: refused below.
    shown = cut(repr(given), fault_chars_max)
    raise BadWorld(
        f"{where} gave back {shown}, which is not a Ruling of texts. Correct it: Ruling(winner, why), or None."
    )


Moment = tuple[int, int, int]


def is_public_line(run_id: str, line: Event) -> bool:
    """Whether a line belongs to this run and everybody in the run may hear it."""
    return line.run_id == run_id and line.kind not in kinds.NO_LINES and line.kind not in kinds.INNER


class RunPast:
    """The public lines of one run, from the graphs and channels where they were said."""

    def __init__(self, ledger: Ledger, run_id: str) -> None:
        self._ledger = ledger
        self._run_id = run_id
        self.was_cut = False
        """Whether the last answer lacked lines that are no longer in memory."""
        world = ledger.folded.world
        tables = ledger.folded.tables
        recalled = [tables.places_recalled_in(world, graph) for graph in world.graphs_of(run_id).values()]
        self._places = {
            place: None
            for tables_here in recalled
            for place, table in tables_here.items()
            if any(line.run_id == run_id for line in table.lines)
        }

    def note_place(self, line: Event) -> None:
        """Remember that this run has lines where this line was said."""
        self._places[line.channel_id or line.graph_id] = None
        self._places[line.graph_id] = None

    def lines(self) -> list[Event]:
        """Every public line of the run that is in memory, oldest first."""
        lines = {line.id: line for table in self._tables() for line in table.lines}
        ours = [line for line in lines.values() if is_public_line(self._run_id, line)]
        return sorted(ours, key=self._moment)

    def up_to(self, line: Event | None) -> Callable[[], tuple[Event, ...]]:
        """A function that returns the lines up to this line (None: all lines). It collects them only when called."""
        self.was_cut = False

        def hear() -> tuple[Event, ...]:
            lines = self.lines()
            if line is not None:
                last = self._moment(line)
                lines = [said for said in lines if self._moment(said) <= last]
            shown = lines[-match_lines_max:]
            kept_from = max([table.lines[0].lamport for table in self._tables() if table.dropped], default=0)
            self.was_cut = line is not None and bool(shown) and shown[0].lamport < kept_from
            return tuple(shown)

        return hear

    def _tables(self) -> list[RecentLines]:
        said = self._ledger.folded.tables.said
        return [said[place] for place in self._places if place in said and said[place].lines]

    def _moment(self, line: Event) -> Moment:
        session = self._ledger.folded.world.sessions[line.session_id]
        return line.lamport - session.skew, session.rank, line.seq


NOBODY: Final = frozenset({"", "nobody", "none"})


class Ending(NamedTuple):
    """How a run ends: the reason, and who won."""

    reason: FinishReason
    winner: str | None = None
    why: str | None = None
    members: tuple[str, ...] = ()


class Endings:
    """Reads the end of runs from the folds."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._referees_cache: dict[tuple[str, str | None], Referee] = {}
        self._looked_through: set[str] = set()
        self._rulings: dict[str, Ruling] = {}
        self._pasts_cache: dict[str, RunPast] = {}

    def of(self, run_id: str) -> Ending | None:
        """How a run ends, if it is over now; else None."""
        purse = self._ledger.folded.runs.purses.get(run_id)
        if purse is None or purse.finished is not None:
            return None  # It has not begun, or has ended already.
        ruling = self._ruling(run_id, purse)
        if ruling is not None and purse.playbill.ends_when.referee:
            return _ruled(ruling, purse)  # The referee's word ends it.
        if not purse.has_come_to_its_end:
            return None  # Nothing that its scenario names has happened.
        return self._judged(run_id, purse)

    def at_the_end(self, run_id: str, reason: FinishReason) -> Ending:
        """The ending of a run that ends for this reason, with its winner."""
        purse = self._ledger.folded.runs.purses.get(run_id)
        ending = Ending(reason) if purse is None else self._judged(run_id, purse)._replace(reason=reason)
        graphs = self._ledger.world.graphs_of(run_id)
        if (
            reason == "ended"
            and ending.why is None
            and any(map(self._ledger.folded.runs.is_talk_stale, graphs))
        ):
            return ending._replace(why=f"The talk brought nothing new for {stale_lines_max} lines.")
        return ending

    def _judged(self, run_id: str, purse: Purse) -> Ending:
        """The ending by the referee's ruling, else by the judge's verdict. A verdict that names nobody leaves no
        winner."""
        ruling = self._ruling(run_id, purse) or self._last_word(run_id, purse)
        if ruling is not None:
            return _ruled(ruling, purse)
        winner = purse.spent.winner if (purse.spent.winner or "") not in NOBODY else None
        return _ended(purse, winner, purse.spent.why)

    def _referee(self, purse: Purse) -> Referee | None:
        name = purse.playbill.competition.referee
        if name is None:
            return None  # It has none.
        if (name, purse.folder) not in self._referees_cache:
            self._referees_cache[name, purse.folder] = referee_named(name, purse.folder)
        return self._referees_cache[name, purse.folder]

    def _last_word(self, run_id: str, purse: Purse) -> Ruling | None:
        referee = self._referee(purse)
        return None if referee is None else referee(self._match(purse, None, self._past(run_id)))

    def _ruling(self, run_id: str, purse: Purse) -> Ruling | None:
        """The first ruling on a line of this run. The first call reads all lines so far; later lines come through
        `note`."""
        is_new = run_id not in self._looked_through and self._referee(purse) is not None
        if is_new and self._is_at_hand(run_id):
            self._looked_through.add(run_id)
            self._pasts_cache.pop(run_id, None)
            for line in self._past(run_id).lines():
                self._rule(run_id, purse, line)
        return self._rulings.get(run_id)

    def note(self, line: Event) -> None:
        """Show a line to the referee of its run."""
        purse = self._ledger.folded.runs.purses.get(line.run_id or "")
        if purse is not None and purse.playbill.competition.referee is not None:
            self._past(line.run_id or "").note_place(line)
            self._rule(line.run_id or "", purse, line)

    def _rule(self, run_id: str, purse: Purse, line: Event) -> None:
        referee = self._referee(purse)
        if referee is None or run_id in self._rulings or not is_public_line(run_id, line):
            return  # Nobody rules, somebody has ruled, or the line is not for everybody.
        if line.caused_by is None:
            return  # Referees rule on lines of acts. Lines of the world and of visitors are only context.
        past = self._past(run_id)
        ruling = referee(self._match(purse, line, past))
        if ruling is not None and not past.was_cut:
            self._rulings[run_id] = ruling

    def _is_at_hand(self, run_id: str) -> bool:
        """Whether all lines of the run's graphs are loaded."""
        world = self._ledger.folded.world
        tables = self._ledger.folded.tables
        return not any(tables.cold_places(world, graph) for graph in world.graphs_of(run_id).values())

    def _past(self, run_id: str) -> RunPast:
        if run_id not in self._pasts_cache:
            self._pasts_cache[run_id] = RunPast(self._ledger, run_id)
        return self._pasts_cache[run_id]

    def _match(self, purse: Purse, line: Event | None, past: RunPast) -> Match:
        dealt = self._ledger.folded.tables.dealt
        cast = purse.cast
        teams = {
            team: tuple([creature for creature, handle in cast.items() if handle in handles])
            for team, handles in purse.playbill.competition.teams.items()
        }
        knowers = purse.spent.knowers
        truths = {name: dealt.get(name, {}) for name in knowers}
        rules = purse.playbill.deal.values()
        told_in = tuple(
            [kind for rule in rules if not isinstance(rule.may_say, bool) for kind in rule.may_say]
        )
        return Match(line, purse.spent.truth, teams, knowers, truths, cast, told_in, past.up_to(line))

    def let_go(self, run_id: str) -> None:
        """Drop the ruling and the lines of a run that has finished."""
        self._looked_through.discard(run_id)
        self._rulings.pop(run_id, None)
        self._pasts_cache.pop(run_id, None)

    def forget(self) -> None:
        """Drop all rulings and read the lines again: some noted lines were never committed."""
        self._looked_through.clear()
        self._rulings.clear()
        self._pasts_cache.clear()

    def due(self, graph: GraphState) -> list[str]:
        """The runs in a graph that may be over: their scenario's end was reached, or a referee watches them."""
        here = members_of(self._ledger.world, graph).runs
        return [run_id for run_id in self._ledger.folded.runs.watched if run_id in here]


def _ruled(ruling: Ruling, purse: Purse) -> Ending:
    """The ending by a ruling. If its winner is unknown in this run and it names no members, nobody has won."""
    known = (*purse.playbill.competition.may_win, *purse.cast.values())
    if ruling.winner is None or ruling.members or ruling.winner in known:
        return _ended(purse, ruling.winner, ruling.why, tuple(ruling.members))
    return _ended(purse, None, f"{ruling.why} (The referee named {ruling.winner!r}, who does not play here.)")


def _ended(purse: Purse, winner: str | None, why: str | None, members: tuple[str, ...] = ()) -> Ending:
    is_open = winner is None and purse.playbill.competition.kind != "none"
    return Ending("no_contest" if is_open else "ended", winner, why, members)


def accounts_of(folded: Folded, run_id: str, ending: Ending, axis: str | None) -> RunFinished:
    """The `run.finished` payload: why the run ended, who won, and what it cost."""
    purse = folded.runs.purses.get(run_id)
    spent = Spent() if purse is None else purse.spent
    usd = None if spent.usage.usd is None else round(spent.usage.usd, 9)
    costs = (spent.turns, spent.usage.calls, spent.usage.tokens, usd)
    members = list(ending.members) or UNSET
    full_turns = spent.full_turns + _is_in_a_full_turn(folded, run_id) or UNSET
    return RunFinished(ending.reason, *costs, axis, ending.winner, ending.why, members, full_turns)


def _is_in_a_full_turn(folded: Folded, run_id: str) -> bool:
    """Whether a run is in a turn that has no calls left for what is still owed. The next `turn.started` would record
    that."""
    world = folded.world
    agenda = folded.agenda
    runs = folded.runs
    graphs = world.graphs_of(run_id).values()
    return any(
        run_id in agenda.runs_left_over(world, graph)
        and runs.is_deferred(run_id, graph.id, partial(agenda.ticks_without_a_call, world, graph, run_id))
        for graph in graphs
    )


def last_graph(world: World, run_id: str) -> str | None:
    """The graph of a run with the latest logical time. `run.finished` is written there, so it comes after all other
    events of the run."""
    graphs = world.graphs_of(run_id).values()
    last = min(graphs, key=lambda graph: (-world.session_of(graph).lamport, graph.born), default=None)
    return None if last is None else last.id
