"""The edges that a branch adds and removes: recorded by name, and told in words."""

from glasshouse.cli.drawing.comparison import changes_in_words
from glasshouse.events.payloads import BranchEdge
from glasshouse.runtime.past.what_if import WhatIf
from glasshouse.runtime.sharing.shared_run import course_of

CHANGE = WhatIf(connect=(("ada", "bo", "den"),), disconnect=(("cy", "ada"),)).recorded()


def test_the_edges_of_a_branch_are_recorded_by_name() -> None:
    assert CHANGE is not None
    assert CHANGE.connect == [BranchEdge(sender="ada", listener="bo", channel="den")]
    assert CHANGE.disconnect == [BranchEdge(sender="cy", listener="ada")]


def test_the_edges_of_a_branch_are_told_in_words() -> None:
    assert changes_in_words(CHANGE) == "bo hears ada on den; ada no longer hears cy"
    assert course_of(CHANGE) == "what if bo hears ada"
