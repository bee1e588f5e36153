import { displayLine } from '../../core/format/index.ts';
import { printable, printableJson } from '../printable.ts';
import type { Io } from './command.ts';
import { withHive } from './with-hive.ts';

const LIST_CHARS = 100;

export async function listMail(io: Io, persona: string, limit: number, json: boolean): Promise<number> {
  const rows = await withHive(io, 'hivebar inbox', LIST_CHARS, false, (hive) => hive.list(persona, limit));
  if (json) io.out(`${printableJson(JSON.stringify(rows))}\n`);
  else if (rows.length === 0) io.out(`${printable(persona)} has no mail\n`);
  else for (const row of rows) io.out(`${lineOf(row)}\n`);
  return 0;
}

function lineOf(row: { id: number; from: string; created: string; content: string | null; read: boolean }): string {
  const text = displayLine((row.content ?? '').slice(0, 2 * LIST_CHARS)).slice(0, LIST_CHARS);
  return `${row.read ? ' ' : '*'} ${String(row.id).padStart(6)}  ${row.created.slice(0, 19)}Z  ${printable(row.from)}: ${text}`;
}

interface Shown {
  readonly id: number;
  readonly from: string;
  readonly created: string;
  readonly content: string;
  readonly origin?: string;
}

export async function showMail(io: Io, persona: string, ids: readonly number[], json: boolean): Promise<number> {
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

export async function readMail(io: Io, persona: string, ids: readonly number[], json: boolean): Promise<number> {
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
    const by = letter.origin === undefined ? '' : `, origin: ${letter.origin}`;
    io.out(`#${letter.id} from ${printable(letter.from)}, ${letter.created.slice(0, 19)}Z${by}\n`);
    for (const line of letter.content.split(/\r?\n/)) io.out(`  ${printable(line)}\n`);
  }
}
