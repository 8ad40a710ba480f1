"""Tools of other programs, by the Model Context Protocol (extra `mcp`): servers, what they say of their tools, calls."""
