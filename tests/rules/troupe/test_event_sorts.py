"""What small deed an event calls for, and how one speaks of it when it has been told."""

import pytest

from glasshouse.troupe.talk.event_sorts import EventSort, sort_of
from glasshouse.troupe.talk.happenings import happenings_in


@pytest.mark.parametrize(
    ("sentence", "sort"),
    [
        ("It begins to rain.", EventSort("wet", "the rain")),
        ("The glass tube breaks.", EventSort("pieces", "the glass tube")),
        ("The referee knocks at the door.", EventSort("sound", "the knock")),
        ("The power goes out.", EventSort("dark", "the dark")),
        ("The light hums.", EventSort("", "the light")),
        ("An old farmer arrives with a sick goat.", EventSort("hurt", "the old farmer")),
        ("A stranger arrives.", EventSort("meet", "the stranger")),
        ("A guard with a torch walks into the gallery.", EventSort("meet", "the guard with a torch")),
        ("New complaints arrive by telephone.", EventSort("count", "the complaints")),
        ("A fire engine stops outside.", EventSort("", "the fire engine")),
        ("The server goes down.", EventSort("try", "the server")),
        ("A spoon is stuck to the ceiling.", EventSort("", "the spoon")),
        ("The first heavy drops fall.", EventSort("wet", "the rain")),
        ("Nobody moves.", EventSort()),
    ],
)
def test_an_event_calls_for_a_deed_of_its_own_sort(sentence: str, sort: EventSort) -> None:
    assert sort_of(happenings_in(sentence)[0]) == sort
