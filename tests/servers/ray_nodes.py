"""Two nodes of a Ray cluster on loopback, as a process of its own: `python -m tests.servers.ray_nodes`. It ends with its standard input.

Always holds: the nodes have a token from the environment, no dashboard, and report nothing to anybody. Each has one core, so that
two bundles are in flight, one on each.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import psutil

from tests.journeys.commanding import environment

store_bytes = 80 * 1024 * 1024
"""The smallest object store that Ray takes."""
# A node that was killed is noticed in a second, not in fifteen.
HEALTH = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 300,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 3,
}


class Nodes(NamedTuple):
    """Where a cluster is, its token, and the processes that are its two nodes."""

    on: str
    variables: dict[str, str]
    raylets: tuple[int, int]

    def busy(self, node: int) -> list[psutil.Process]:
        """The processes of a node that play a bundle."""
        raylet = psutil.Process(self.raylets[node])
        return [child for child in raylet.children() if "glasshouse" in _title(child)]


def _title(process: psutil.Process) -> str:
    try:
        line = process.cmdline()
    except psutil.Error:
        return ""
    return line[0] if line and line[0].startswith("ray::") else ""


@contextmanager
def two_nodes(token: str) -> Iterator[Nodes]:
    """A cluster that is up until the block ends."""
    variables = {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": token,
        "RAY_USAGE_STATS_ENABLED": "0",
        "GLASSHOUSE_ALLOW_WORLD_CODE": "1",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "tests.servers.ray_nodes"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(**variables), text=True,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        started = next(json.loads(line) for line in child.stdout if line.startswith("{"))
        yield Nodes(f"ray://{started['address']}", variables, (started["raylets"][0], started["raylets"][1]))
        child.communicate()


def main() -> None:
    """Be a cluster."""
    from ray.cluster_utils import Cluster

    cluster: Any = Cluster()
    how: dict[str, Any] = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": store_bytes}
    nodes = [
        cluster.add_node(node_ip_address="127.0.0.2", _system_config=HEALTH, **how),
        cluster.add_node(node_ip_address="127.0.0.3", **how),
    ]
    raylets = [node.all_processes["raylet"][0].process.pid for node in nodes]
    print(json.dumps({"address": cluster.address, "raylets": raylets}), flush=True)
    sys.stdin.read()
    cluster.shutdown()


if __name__ == "__main__":
    main()
