import { parseArgs } from 'node:util';
import { Fault } from '../../core/model/index.ts';
import type { StatusWire } from '../status/index.ts';
import { askTray } from './ask-tray.node.ts';
import type { Command } from './command.ts';
import { answered, usage } from './outcome.ts';
import { printableJson } from './printable.ts';
import { statusTable } from './status-table.ts';

export const command: Command = {
  usage: 'status [--json]',
  about: ['  --json   the status JSON as the program serves it (docs/CONTRACT.md)'],
  examples: [
    { run: 'hivebar status', does: 'a table for a person' },
    { run: 'hivebar status --json | jq .totals.unread', does: 'one number for a script' },
  ],
  async run(args, io) {
    const { json } = flagsOf(args);
    const body = answered(await askTray({ method: 'GET', path: '/status.json', body: null }, io.env), io);
    if (body === null) return 1;
    io.out(json ? `${printableJson(body.trimEnd())}\n` : statusTable(statusOf(body)));
    return 0;
  },
};

function flagsOf(args: readonly string[]): { readonly json: boolean } {
  try {
    const { values } = parseArgs({ args: [...args], options: { json: { type: 'boolean', default: false } } });
    return values;
  } catch (error) {
    throw usage(error);
  }
}

/** This program's own tray process answered, so the schema number is all there is to doubt. */
function statusOf(body: string): StatusWire {
  const value: unknown = JSON.parse(body);
  if (typeof value === 'object' && value !== null && 'schema' in value && value.schema === 1)
    return value as StatusWire;
  throw new Fault('shape', 'the running program speaks another version: stop it and start this one', {
    is: 'machine',
    key: 'tray',
  });
}
