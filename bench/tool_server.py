"""A tool server of the SDK with one tool, for the bench of tool calls."""

from __future__ import annotations

import sys

from mcp.server import MCPServer

server = MCPServer("bench", log_level="CRITICAL")


@server.tool()
def echo(text: str) -> str:
    """Say it again."""
    return text


if __name__ == "__main__":
    match sys.argv[1:]:
        case [port]:
            server.run("streamable-http", port=int(port))
        case _:
            server.run("stdio")
