"""`glasshouse why` tells why something was said."""

from __future__ import annotations

from glasshouse.cli import options
from glasshouse.cli.drawing.causes import draw_why, print_why
from glasshouse.cli.options import option
from glasshouse.cli.store_reader import ask_about


def why(
    event: options.EventArgument,
    *,
    run: options.InRunOption = None,
    role: options.RoleOption = options.RoleName.AUDIENCE,
    lines: int = option("N", "How many lines of each prompt to draw.", 12, min=0, max=256),
    store: options.StoreOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Tell why something was said: the causes back to where it began, each with what was in sight.

    No model is asked and nothing is written.

    \b
    Examples:
      glasshouse why last                          the last line of the last run
      glasshouse why 34                            event 34 of the last run
      glasshouse why 34 --run r-1a2b               of another run
      glasshouse why s-1a2b.20 --as director       by its id, with what the model was asked
    """
    named, answer = ask_about(store, event, run, lambda terrarium, name: terrarium.why(name, role=role.value))
    if as_json:
        print_why(answer, named)
    else:
        draw_why(answer, named, lines)
