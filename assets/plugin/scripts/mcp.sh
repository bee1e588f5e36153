#!/bin/sh
# The MCP server of the Hivebar on this machine. Where there is none, it refuses its client and says what to do.
if command -v hivebar >/dev/null 2>&1; then exec hivebar mcp; fi

why='Hivebar is not on the PATH of this program: install it and start this program again'
echo "$why" >&2
IFS= read -r request
id=${request##*\"id\":}
id=${id%%[,\}]*}
case $id in '' | *[!0-9]*) exit 1 ;; esac
printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"%s"}}\n' "$id" "$why"
exit 1
