import { defineCommand } from '../../core/command/index.ts';
import { displayJson } from '../../core/format/index.ts';
import { unwrapResponse } from './act.ts';
import { formatStatusTable, parseStatus } from './status-output.ts';
import { askTray } from './tray-request.node.ts';

export const command = defineCommand(
  {
    name: 'status',
    about: [],
    flags: {
      json: { type: 'boolean', help: 'the status JSON as the program serves it (docs/contract/status-json.md)' },
      watch: {
        type: 'boolean',
        help: 'print every change until it is stopped: redrawn in place on a terminal; in a pipe one block for each change, with --json one line',
      },
    },
    examples: [
      { run: 'hivebar status', does: 'a table for a person' },
      { run: 'hivebar status --json | jq .totals.unread', does: 'one number for a script' },
      { run: 'hivebar status --watch', does: 'a live table' },
    ],
  },
  async ({ json, watch }, io) => {
    if (watch) return await (await import('./status-output.ts')).watchStatus(io, json);
    const body = unwrapResponse(await askTray({ method: 'GET', path: '/status.json', body: null }, io.env), io);
    if (body === null) return 1;
    io.out(json ? `${displayJson(body.trimEnd())}\n` : formatStatusTable(parseStatus(body)));
    return 0;
  },
);
