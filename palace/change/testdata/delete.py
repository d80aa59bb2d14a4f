"""Deletes by way of MemPalace's own tools, and prints what they answered.

Reads JSON on standard input: {"source": ...} or {"ids": [...]}. The palace is that of MEMPALACE_PALACE_PATH, the locks
are those of HOME, which should be a scratch one.
"""
import json
import sys

from mempalace import mcp_server  # it puts standard output away, for its protocol

step = json.load(sys.stdin)
if "source" in step:
    answer = mcp_server.tool_delete_by_source(step["source"], dry_run=False)
else:
    answer = mcp_server.tool_delete_drawers(step["ids"])
print("answer", json.dumps(answer), file=sys.stderr)
