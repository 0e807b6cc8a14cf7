"""What is registered by name, and what one is told who asks for something else."""

import pytest

from ddsim.errors import InputError
from ddsim.registry import Registry, UnknownNameError


@pytest.fixture
def tools() -> Registry[type]:
    """A registry of two classes, which are told their names."""
    made: Registry[type] = Registry("tool", attribute="name")
    for name in ("saw", "hammer"):
        made.register(name)(type(name.title(), (), {}))
    return made


def test_things_stand_in_the_order_of_their_registration(tools: Registry[type]) -> None:
    """And each knows its name."""
    assert tools.names() == ("saw", "hammer")
    assert [vars(thing)["name"] for _, thing in tools.items()] == ["saw", "hammer"]
    assert "saw" in tools


def test_an_unknown_name_is_met_with_what_is_near_and_what_there_is(tools: Registry[type]) -> None:
    """As the user's input, in words, and as the KeyError that a lookup gives."""
    with pytest.raises(InputError) as failure:
        tools.get("hamer")
    said = 'unknown tool "hamer"; did you mean "hammer"? there are hammer and saw'
    assert str(failure.value) == said
    assert isinstance(failure.value, UnknownNameError | KeyError)


def test_a_room_may_have_its_own_error() -> None:
    """Made of the same message."""
    rulers: Registry[int] = Registry("ruler", unknown=ValueError)
    with pytest.raises(ValueError, match=r'unknown ruler "long"; none yet'):
        rulers.get("long")


def test_a_name_belongs_to_one_thing(tools: Registry[type]) -> None:
    """Another class is refused; the same one, defined again, takes its place."""
    again = type("Saw", (), {})
    assert tools.register("saw")(again) is again
    assert tools.get("saw") is again
    assert tools.names() == ("saw", "hammer")
    with pytest.raises(ValueError, match="tool 'saw' is already registered, by Saw"):
        tools.register("saw")(type("Chainsaw", (), {}))
