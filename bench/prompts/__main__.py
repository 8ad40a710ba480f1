"""Asks the moments of the bench again: `make prompts MODEL=ADDRESS`, or `python -m bench.prompts --help`.

Progress goes to stderr, a line for each act; results go to a file of JSON lines while it runs, and a table at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.prompts import blind, product, results
from bench.prompts.moments import KINDS, BenchMoment, all_moments, chosen_moments
from bench.prompts.product import Heard, PlayedAct

out_usual = Path("bench/prompts.jsonl")


def main(arguments: Sequence[str]) -> int:
    """What the arguments ask for."""
    given = _parser().parse_args(arguments)
    try:
        return _done(given)
    except (LookupError, OSError, product.ProductError) as wrong:
        print(wrong, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped. The same command goes on where it stopped.", file=sys.stderr)
        return 130


def _done(given: argparse.Namespace) -> int:
    files = [Path(name) for name in given.files]
    if given.table:
        print(results.table({file.stem: results.read(file) for file in files}, kinds=KINDS))
    elif given.blind:
        blind.write(Path(given.blind), {file.stem: results.read(file) for file in files})
        print(
            f"Read {given.blind}.md, fill in {given.blind}.csv, then: --unblind {given.blind}.csv {given.blind}.key.json"
        )
    elif given.unblind:
        print(blind.unblinded(*files))
    elif given.list:
        for moment in all_moments():
            print(
                f"{moment.id:24} {moment.kind:12} {moment.world:22} {'small' if moment.small else '     '} {moment.good}"
            )
    elif given.show:
        asyncio.run(_show(chosen_moments([given.show])[0]))
    else:
        return _run(given, files)
    return 0


def _run(given: argparse.Namespace, files: list[Path]) -> int:
    if len(files) != 1:
        raise LookupError(
            "Name one model, such as http://127.0.0.1:8093/v1, as `glasshouse play --models` takes it."
        )
    spec = given.files[0]
    out = Path(given.out)
    moments = chosen_moments([*filter(None, (given.only or "").split(","))], given.set, given.limit)
    seeds = [int(seed) for seed in given.seeds.split(",")]
    asyncio.run(_ask_all(spec, moments, seeds, out))
    written = results.table({out.stem: results.read(out)}, kinds=KINDS)
    out.with_suffix(".md").write_text(written, encoding="utf-8")
    print(written)
    print(f"{out} has the replies, {out.with_suffix('.md')} this table.")
    return 0


async def _ask_all(spec: str, moments: list[BenchMoment], seeds: list[int], out: Path) -> None:
    rows = results.read(out)
    if any(row["model"] != spec for row in rows):
        raise LookupError(f"{out} has results of {rows[0]['model']}: give another file with --out.")
    results.rewrite(out, rows)
    done = {(row["moment"], row["seed"]) for row in rows}
    # Seed by seed, so that a run that is stopped early has seen every moment once.
    todo = [(moment, seed) for seed in seeds for moment in moments if (moment.id, seed) not in done]
    total = len(todo)
    _tell(f"{total} acts to ask of {spec}; {len(done)} are in {out} already.")
    async with product.opened_models(spec) as models:
        for number, (moment, seed) in enumerate(todo, 1):
            _tell(f"{number} of {total}: {moment.id}, seed {seed} ...")
            started = time.perf_counter()
            async with product.opened_store(moment.store) as store:
                played = await product.played_act(store, moment.act, models, seed)
            if played.end is None and not any(heard.completion for heard in played.heard):
                reason = played.heard[-1].failure if played.heard else "nothing was asked"
                raise LookupError(
                    f"The model cannot be asked: {reason} Mend that, then run the same command again."
                )
            row = row_of(moment, seed, spec, played, time.perf_counter() - started)
            results.add(out, row)
            _tell(f"{number} of {total}: {_in_short(results.measured(row))}")


def row_of(moment: BenchMoment, seed: int, spec: str, played: PlayedAct, seconds: float) -> results.Row:
    """What is kept of one act: all prompts and replies, what was said, and what the ruler needs."""
    answered = [heard for heard in played.heard if heard.completion is not None]
    end = played.end
    line = str(end.payload.get("text") or "") if end is not None and end.kind != "loop.suspected" else ""
    refused = _refusals(played)
    is_good = end is not None and end.kind not in ("agent.failed", "loop.suspected")
    return {
        "moment": moment.id,
        "world": moment.world,
        "kind": moment.kind,
        "good": moment.good,
        "seed": seed,
        "model": spec,
        "end": "" if end is None else end.kind,
        "line": line,
        "payload": {}
        if end is None
        else {name: value for name, value in end.payload.items() if name != "text"},
        "thought": "" if end is None else product.thought_of(end),
        "tools": played.tools,
        "refused": refused,
        "repaired": bool(refused) and is_good,
        "failure": next((heard.failure for heard in played.heard if heard.failure), ""),
        "texts": product.texts_of(played)._asdict(),
        "ref_fields": product.ref_fields_of(played),
        "calls": [_call(heard) for heard in answered],
        "seconds": round(seconds, 2),
        "about": product.about(played),
    }


def _refusals(played: PlayedAct) -> list[str]:
    """Why replies were asked for again: what the next prompt says that the one before did not. After a tool that is the
    tool's answer, and no refusal."""
    reasons = []
    for before, after in zip(played.heard, played.heard[1:], strict=False):
        if before.completion is None:
            continue
        if _tool_answers(after.prompt.user) > _tool_answers(before.prompt.user):
            continue
        known = {*before.prompt.user.splitlines(), *before.prompt.system.splitlines()}
        new = [
            line for line in after.prompt.user.splitlines() if line not in known and not line.startswith('"')
        ]
        reasons.append(" ".join(new)[:400] or "asked again in another form")
    return reasons


def _tool_answers(user: str) -> int:
    return sum(user.count(outcome) for outcome in ('} answered: "', '} failed: "'))


def _call(heard: Heard) -> dict[str, Any]:
    completion = heard.completion
    assert completion is not None, "only answered calls are kept"
    return {
        "raw": completion.text,
        "finish": completion.finish,
        "form": heard.prompt.form,
        "system": heard.prompt.system,
        "user": heard.prompt.user,
        "tokens_in": completion.usage.input,
        "tokens_out": completion.usage.output,
        "cached": completion.usage.cache_read,
        "seconds": round(completion.milliseconds / 1_000, 2),
    }


def _in_short(row: results.Row) -> str:
    said = row["said"] or row["first"] or {}
    names = (
        "recited",
        "echoed",
        "said_again",
        "prompt_text",
        "scene",
        "persona",
        "placeholder",
        "empty",
        "loop",
    )
    wrong = [name for name in names if said.get(name)]
    facts = [row["end"] or "nothing", f"{row['seconds']:.0f} s"]
    facts += [f"tools: {', '.join(row['tools'])}"] if row["tools"] else []
    facts += ["asked again"] if row["refused"] else []
    facts += [", ".join(wrong)] if wrong else []
    return f"{row['moment']}, seed {row['seed']}: {'; '.join(facts)}. {row['line'][:90]}"


async def _show(moment: BenchMoment) -> None:
    """Print the prompt that this version writes for a moment."""
    async with product.opened_store(moment.store) as store:
        played = await product.played_act(store, moment.act, product.SilentRouter())
    prompt = played.heard[0].prompt
    print(f"{prompt.system}\n\n----- user -----\n{prompt.user}")


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.prompts", description=__doc__)
    parser.add_argument(
        "files",
        nargs="*",
        metavar="MODEL or FILE",
        help="the model to ask; result files for --table and --blind",
    )
    parser.add_argument("--seeds", default="1", help="sampling seeds, such as 1,2")
    parser.add_argument(
        "--set", default="all", choices=["all", "small"], help="which moments; small: 16 of all roles"
    )
    parser.add_argument("--only", help="ids, worlds or kinds of moments, such as judge,oak-owl-first")
    parser.add_argument("--limit", type=int, help="at most so many moments")
    parser.add_argument("--out", default=str(out_usual), help="the file of results; a run goes on in it")
    parser.add_argument("--table", action="store_true", help="print the table of result files, side by side")
    parser.add_argument(
        "--blind", metavar="OUT", help="write the lines of result files to OUT.md and OUT.csv without labels"
    )
    parser.add_argument("--unblind", action="store_true", help="join SCORES.csv with KEY.json into a table")
    parser.add_argument(
        "--show", metavar="MOMENT", help="print the prompt that this version writes, and ask nobody"
    )
    parser.add_argument("--list", action="store_true", help="list the moments")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
