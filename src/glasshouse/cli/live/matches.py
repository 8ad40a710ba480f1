"""Tournaments and leaderboards: one line for each match when it ends, and the standings, as JSON or as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasshouse.assembly import StoreAddress
from glasshouse.cli.command_line import checked_settings
from glasshouse.cli.conversion_bar import store_to_write
from glasshouse.cli.drawing.screen import Screen, draw_table, facts_of, one_line, print_json
from glasshouse.cli.expected_cost import check_agreed, is_priced
from glasshouse.cli.model_choice import ModelChoice
from glasshouse.cli.tool_servers import servers_here, servers_of_world, tool_names
from glasshouse.contests.expected_cost import expected_of_world
from glasshouse.contests.tournament import MatchPlayed, Tournament, check_draw, matches_in
from glasshouse.events.event import Json
from glasshouse.manifests.loading import load_world
from glasshouse.terrarium import Terrarium
from glasshouse.views.leaderboard import Outcome, Player, Standing


def standing_facts(standing: Standing, by: str) -> Json:
    """A line for machines."""
    counts = facts_of(standing, "name", "played", "won", "lost", "no_contest")
    usage = facts_of(standing.usage, "calls", "tokens", "usd")
    return {"by": by, **counts, "win_rate": round(standing.win_rate, 4), **usage}


def draw_standings(screen: Screen, standings: Sequence[Standing], by: str) -> None:
    """All lines as a table."""
    rows = []
    for standing in standings:
        counts = facts_of(standing, "name", "played", "won", "lost", "no_contest").values()
        usage = standing.usage
        usd = standing.usage.usd
        spent = (f"{usage.calls:,}", f"{usage.tokens:,}", "unknown" if usd is None else f"{usd:.4f}")
        rows.append((*map(str, counts), f"{standing.win_rate:.0%}", *spent))
    headings = (by, "played", "won", "lost", "no contest", "rate", "calls", "tokens", "usd")
    draw_table(screen, headings, rows, loose=(by,), spare=("usd", "tokens", "calls"))


async def play_matches(
    name: str,
    models: Sequence[str],
    rounds: int,
    store: StoreAddress,
    choice: ModelChoice,
    *,
    is_solo: bool,
    as_json: bool,
    **seeds: Any,
) -> None:
    """Play a tournament, and print each match and the standings. Of `seeds`, see `Tournament`."""
    servers = servers_here()
    world = load_world(name, tools=tool_names(servers))
    screen = Screen()
    check_draw(world, models, rounds, is_against_solo=is_solo)
    named = choice.named()
    await named.prepare(*models)
    for model in models:
        named.route("fast", model)  # An unknown model is refused before a store is created.
    if is_priced(named, models):
        seats = dict.fromkeys(world.scenario.cast_by_handle, models[0])
        expected = expected_of_world(named, world, seeds["seed"], seeds["rng_seed"], None, seats)
        count = matches_in(models, rounds, is_against_solo=is_solo)
        check_agreed(expected.times(count), is_agreed=choice.is_agreed, as_json=as_json)
    seconds_max = checked_settings().act_seconds_max
    servers_of_world(world).say(servers, as_json=as_json)
    async with Terrarium(
        store_to_write(store), models=named, tool_servers=servers, act_seconds_max=seconds_max
    ) as terrarium:
        tournament = Tournament(terrarium, world, models, rounds=rounds, is_against_solo=is_solo, **seeds)
        played: list[MatchPlayed] = []
        async for match in tournament.play():
            played.append(match)
            if as_json:
                print_json(_facts(match))
            else:
                screen.draw(f"{len(played)}/{tournament.matches}  {_line(match, has_models=not is_solo)}")
        by = "side" if is_solo else "model"
        run_ids = {match.run_id for match in played}
        standings = sides(terrarium, played) if is_solo else terrarium.leaderboard("model", run_ids=run_ids)
    if as_json:
        print_json(*[{"type": "standing", **standing_facts(standing, by)} for standing in standings])
    else:
        screen.draw("")
        draw_standings(screen, standings, by)


def sides(terrarium: Terrarium, played: Sequence[MatchPlayed]) -> list[Standing]:
    """How troupe and solo stand, for each model. What they cost is what their own runs have cost, counted once."""
    standings: dict[str, Standing] = {}
    counted: set[str] = set()
    for match in played:
        for side, model in match.seats.items():
            run = terrarium.run_of(match.run_ids[side])
            costs = [Player(side, side, model, run.usage)] if run.id not in counted else []
            counted.add(run.id)
            outcome: Outcome = "won" if match.winner == side else "lost" if match.winner else "no_contest"
            name = f"{side} ({model})"
            standings[name] = standings.get(name, Standing(name)).plus(outcome, costs)
    return sorted(standings.values(), key=lambda standing: (-standing.win_rate, -standing.won, standing.name))


def _facts(match: MatchPlayed) -> dict[str, Any]:
    facts = facts_of(match, "round", "rng_seed", "run_id", "winner", "winning_model", "why")
    return {"type": "match", **facts, "seats": dict(match.seats), "read_from": dict(match.run_ids)}


def _line(match: MatchPlayed, *, has_models: bool) -> str:
    seats = ", ".join(f"{seat}: {model}" if has_models else seat for seat, model in match.seats.items())
    model = f" ({match.winning_model})" if has_models and match.winning_model else ""
    won = f"won by {match.winner}{model}" if match.winner else "no contest"
    return "  ".join(map(one_line, (f"round {match.round}", seats, won, match.run_id)))
