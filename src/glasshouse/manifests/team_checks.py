"""Cross checks of the competition: teams and the referee.

Always holds: each check yields what is wrong and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from glasshouse.events import kinds
from glasshouse.manifests.functions_beside import fault_of_function
from glasshouse.manifests.problem import Complaint, likely, names_listed_max, shown
from glasshouse.manifests.rehearsal import DEALS_OF_REFEREES, Rehearsal

_TEAMS = ("competition", "teams")


def versus_without_teams(world: Rehearsal) -> Iterator[Complaint]:
    """A match that has fewer than two sides."""
    competition = world.scenario.competition
    if competition.kind == "versus" and len(competition.teams) < 2 and "competition" not in world.hurt:
        words = f"'versus' needs two teams at least, and there {_are(len(competition.teams))}. List them under 'teams'."
        yield Complaint(("competition", "kind"), words)


def _are(count: int) -> str:
    return "is one" if count == 1 else "is none"


def teams_overlapping(world: Rehearsal) -> Iterator[Complaint]:
    """Creatures that play for two teams, or twice for one."""
    team_of: dict[str, str] = {}
    for team, members in world.scenario.competition.teams.items():
        for n, name in enumerate(members):
            if name in team_of:
                words = f"{name!r} already plays for {team_of[name]!r}. Nobody plays twice: take one out."
                yield Complaint((*_TEAMS, team, n), words)
            team_of.setdefault(name, team)


def contestants_who_judge(world: Rehearsal) -> Iterator[Complaint]:
    """Creatures that play in a match, and could name the winner themselves."""
    cast = {entry.name: entry.use for stage in world.scenario.stages.values() for entry in stage.cast}
    competition = world.scenario.competition
    teams = [((*_TEAMS, team), members) for team, members in competition.teams.items()]
    for at, members in [*teams, (("competition", "contestants"), competition.contestants)]:
        for n, name in enumerate(members):
            manifest = world.manifests.get(cast.get(name, ""))
            if manifest is not None and kinds.JUDGE_VERDICT in manifest.may_emit:
                words = f"{name!r} may emit {kinds.JUDGE_VERDICT}, and nobody judges a match it plays in. Let another judge."
                yield Complaint((*at, n), words)


def teams_called_like_creatures(world: Rehearsal) -> Iterator[Complaint]:
    """Team names that could be mistaken for a creature's."""
    for team in world.scenario.competition.teams:
        if team in world.handles or team in world.known:
            words = f"a creature is called {team!r} too. Give the team another name."
            yield Complaint((*_TEAMS, team), words, at_key=True)


def referee_unknown(world: Rehearsal) -> Iterator[Complaint]:
    """A referee that is neither built in nor a function in a file beside the world."""
    referee = world.scenario.competition.referee
    if referee is not None and referee not in world.referees:
        words = _fault_of_referee(referee, world)
        if words:
            yield Complaint(("competition", "referee"), words)


def _fault_of_referee(referee: str, world: Rehearsal) -> str | None:
    if ":" not in referee:
        advice = likely(referee, sorted(world.referees))
        return f"no referee is called {shown(referee)}. {advice} One of your own is 'file.py:function'."
    return fault_of_function("referee", referee, world.functions_in)


def referee_without_its_deal(world: Rehearsal) -> Iterator[Complaint]:
    """A built-in referee that can never rule, because what it looks for is dealt to nobody or nobody plays for it."""
    competition, deals = world.scenario.competition, world.scenario.deal
    needed = DEALS_OF_REFEREES.get(competition.referee or "")
    if needed is None:
        return
    if needed not in deals and "deal" not in world.hurt:
        there = (
            f"there is {', '.join(map(shown, [*deals][:names_listed_max]))}" if deals else "nothing is dealt"
        )
        words = f"{competition.referee} needs a deal called {needed!r}, and {there}. Name it so under 'deal'."
        yield Complaint(("competition", "referee"), words)
    if len(competition.teams) < 2 and competition.kind != "versus" and "competition" not in world.hurt:
        words = f"{competition.referee} needs two teams. List them under 'teams'."
        yield Complaint(("competition", "referee"), words)


def referee_missing(world: Rehearsal) -> Iterator[Complaint]:
    """A play that a referee should end, without a referee."""
    ends = world.scenario.ends_when
    if (
        ends
        and ends.referee
        and world.scenario.competition.referee is None
        and "competition" not in world.hurt
    ):
        yield Complaint(("ends_when", "referee"), "there is no referee. Name one as competition.referee.")
