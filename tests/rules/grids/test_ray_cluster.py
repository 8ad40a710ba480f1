"""Which clusters a grid is played on: what an address means, and what is refused without a token."""

import socket
import sys

import pytest

from glasshouse.errors import Refused
from glasshouse.grids.on_ray import slots_resource
from glasshouse.grids.ray_cluster import address_of, check_answers, check_installed

TOKEN = {"RAY_AUTH_MODE": "token"}


def test_an_address_on_loopback_needs_no_token() -> None:
    assert address_of("ray://127.0.0.2:7000", {}) == "127.0.0.2:7000"
    assert address_of("ray://localhost", {}) == "localhost:6379"


@pytest.mark.parametrize("variables", [{}, {"RAY_AUTH_MODE": "disabled"}])
@pytest.mark.parametrize("host", ["10.0.0.5:6379", "head", "0.0.0.0:6379"])
def test_an_address_beyond_this_machine_is_refused_without_a_token(
    host: str, variables: dict[str, str]
) -> None:
    with pytest.raises(Refused, match=r"beyond this machine.*RAY_AUTH_MODE=token"):
        address_of(f"ray://{host}", variables)
    with pytest.raises(Refused, match="beyond this machine"):
        address_of("ray", {**variables, "RAY_ADDRESS": host})


def test_with_a_token_any_address_may_be_named() -> None:
    assert address_of("ray://head", TOKEN) == "head:6379"
    assert address_of("ray", {**TOKEN, "RAY_ADDRESS": "10.0.0.5:6379"}) == "10.0.0.5:6379"


def test_an_address_where_nobody_answers_is_told_at_once() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # Nobody listens.
        host, port = silent.getsockname()

        with pytest.raises(ConnectionRefusedError):
            check_answers(f"{host}:{port}")


def test_ray_alone_is_a_ray_of_this_machine() -> None:
    assert address_of("ray", {}) is None


@pytest.mark.parametrize("on", ["dask", "ray://", "ray://head:port", "rays"])
def test_other_places_are_refused(on: str) -> None:
    with pytest.raises(Refused):
        address_of(on, TOKEN)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    monkeypatch.setattr("glasshouse.grids.ray_cluster.find_spec", lambda _name: None)

    with pytest.raises(Refused, match=r"Ray is not installed here.*ray\]"):
        check_installed()


def test_the_resource_of_a_server_is_named_after_its_address() -> None:
    assert slots_resource("http://10.0.0.5:8000/v1") == "glasshouse:10.0.0.5:8000/v1"
