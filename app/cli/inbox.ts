import { parseArgs } from 'node:util';
import { printable, printableJson } from '../printable.ts';
import type { Command, Io } from './command.ts';
import { usage } from './outcome.ts';
import { withHive } from './with-hive.ts';

const LIST_CHARS = 100;

export const command: Command = {
  usage: 'inbox list|show|read PERSONA [ID...] [--limit N] [--json]',
  about: [
    'list shows the newest messages, show one or more in full (without ID: the newest); neither marks anything as read.',
    'read shows and marks as read: the given messages, or all that are unread.',
  ],
  examples: [
    { run: 'hivebar inbox list ada', does: "ada's newest messages, a line each" },
    { run: 'hivebar inbox show ada 12', does: 'one message in full' },
    { run: 'hivebar inbox read ada', does: 'all unread mail, which is read from then on' },
  ],
  async run(args, io) {
    const { verb, persona, ids, limit, json } = parsed(args);
    switch (verb) {
      case 'list':
        return await list(io, persona, limit, json);
      case 'show':
        return await show(io, persona, ids, json);
      case 'read':
        return await read(io, persona, ids, json);
    }
  },
};

async function list(io: Io, persona: string, limit: number, json: boolean): Promise<number> {
  const rows = await withHive(io, 'hivebar inbox', LIST_CHARS, false, (hive) => hive.list(persona, limit));
  if (json) io.out(`${printableJson(JSON.stringify(rows))}\n`);
  else if (rows.length === 0) io.out(`${printable(persona)} has no mail\n`);
  else for (const row of rows) io.out(`${lineOf(row)}\n`);
  return 0;
}

function lineOf(row: { id: number; from: string; created: string; content: string | null; read: boolean }): string {
  const text = printable(row.content ?? '').slice(0, LIST_CHARS);
  return `${row.read ? ' ' : '*'} ${String(row.id).padStart(6)}  ${row.created.slice(0, 19)}Z  ${printable(row.from)}: ${text}`;
}

interface Shown {
  readonly id: number;
  readonly from: string;
  readonly created: string;
  readonly content: string;
}

async function show(io: Io, persona: string, ids: readonly number[], json: boolean): Promise<number> {
  const letters = await withHive(io, 'hivebar inbox', 0, false, (hive) => {
    const wanted = ids.length > 0 ? ids : hive.list(persona, 1).map((row) => row.id);
    return wanted.map((id) => ({ id, letter: hive.show(persona, id) }));
  });
  const found = letters.flatMap(({ letter }) => (letter === null ? [] : [letter]));
  print(io, found, json);
  const missing = letters.filter(({ letter }) => letter === null);
  for (const { id } of missing) io.err(`hivebar inbox: ${printable(persona)} has no message ${id}\n`);
  return missing.length > 0 ? 1 : 0;
}

async function read(io: Io, persona: string, ids: readonly number[], json: boolean): Promise<number> {
  const { found, missing } = await withHive(io, 'hivebar inbox', 0, true, (hive) => {
    const unread = (): number[] =>
      hive.list(persona, Number.MAX_SAFE_INTEGER).flatMap((row) => (row.read ? [] : [row.id]));
    const wanted = ids.length > 0 ? ids : unread().reverse();
    const letters = wanted.map((id) => ({ id, letter: hive.show(persona, id) }));
    const here = letters.flatMap(({ letter }) => (letter === null ? [] : [letter]));
    // What is marked is what is shown: mail that arrives in between stays unread.
    hive.markRead(
      persona,
      here.map((letter) => letter.id),
    );
    return { found: here, missing: letters.filter(({ letter }) => letter === null) };
  });
  print(io, found, json);
  if (!json && found.length === 0 && missing.length === 0) io.out(`${printable(persona)} has no unread mail\n`);
  for (const { id } of missing) io.err(`hivebar inbox: ${printable(persona)} has no message ${id}\n`);
  return missing.length > 0 ? 1 : 0;
}

function print(io: Io, letters: readonly Shown[], json: boolean): void {
  if (json) {
    io.out(`${printableJson(JSON.stringify(letters))}\n`);
    return;
  }
  for (const letter of letters) {
    io.out(`#${letter.id} from ${printable(letter.from)}, ${letter.created.slice(0, 19)}Z\n`);
    for (const line of letter.content.split(/\r?\n/)) io.out(`  ${printable(line)}\n`);
  }
}

function parsed(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { json: { type: 'boolean', default: false }, limit: { type: 'string', default: '20' } },
      allowPositionals: true,
    });
    const [verb, persona, ...rest] = positionals;
    if (verb !== 'list' && verb !== 'show' && verb !== 'read') throw new Error('say list, show or read');
    if (persona === undefined || persona === '')
      throw new Error(`inbox ${verb}: whose inbox? Give the name of a persona`);
    if (verb === 'list' && rest.length > 0) throw new Error(`inbox list: takes no ids (${rest.join(' ')})`);
    return { verb, persona, ids: rest.map(wholeOf), limit: wholeOf(values.limit), json: values.json } as const;
  } catch (error) {
    throw usage(error);
  }
}

function wholeOf(text: string): number {
  const n = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(n) || n < 1)
    throw new Error(`${text} is not a whole number above 0`);
  return n;
}
