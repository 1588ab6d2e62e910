"""The MCP server: the table of operations as tools for agents, with notes as resources (specs 3, 4 and 5)."""
