import { join } from 'node:path';
import type { PersonaId } from '../model/index.ts';
import type { Random } from '../ports/index.ts';
import { type Disk, getErrno, readPrivate, toStem, writeAtomically } from '../state/index.ts';
import { type DaemonConfig, type DaemonName, LOCAL } from './config.ts';

/** No request is longer: a peer that sends more speaks another protocol (persona daemon, contract 4). */
export const LONGEST_LINE = 16 * 1024;

const NEWLINE = 0x0a;

/** The result of one chunk: the lines that it completed, without their line ends, and whether the next line is too long. */
interface CutLines {
  readonly lines: readonly string[];
  readonly isOver: boolean;
}

/**
 * Cuts a stream into lines of at most `longest` bytes, and keeps at most one unfinished line. It stops reading at a line that is
 * too long.
 */
export function createLineCutter(longest: number): (chunk: Uint8Array) => CutLines {
  let held: Uint8Array[] = [];
  let bytes = 0;
  return (chunk) => {
    const lines: string[] = [];
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from);
      const part = chunk.subarray(from, end === -1 ? chunk.length : end);
      if (bytes + part.length > longest) return { lines, isOver: true };
      if (end === -1) {
        if (part.length > 0) held.push(part);
        bytes += part.length;
        return { lines, isOver: false };
      }
      lines.push(Buffer.concat([...held, part]).toString('utf8'));
      held = [];
      bytes = 0;
      from = end + 1;
    }
  };
}

/** A longer name is not put into a command. */
const LONGEST_NAME = 64;

type DoorbellConfig = Pick<DaemonConfig, 'tenant' | 'identity' | 'address' | 'upstream'>;

/**
 * Formats the one line that an agent reads for a doorbell: that something waits, and how to fetch it. The line contains only what
 * was installed, and nothing that anybody sent (persona daemon, contract 4).
 */
export function formatDoorbellLine(config: DoorbellConfig): string {
  return formatWorkNotice(config, [formatDrainCommand(config, null)]);
}

/** Formats the same line with other commands to fetch the work. */
export function formatWorkNotice({ tenant, identity }: DaemonName, commands: readonly string[]): string {
  return `hivebar: work waits for ${tenant}/${identity}; fetch it now: ${commands.join(', and ')}`;
}

/** Formats the command with which a surface fetches what its daemon rings for. @param session whose own items are included too */
export function formatDrainCommand(
  { tenant, identity, address, upstream }: DoorbellConfig,
  session: string | null,
): string {
  if (upstream === LOCAL) return formatInboxDrainCommand(address, session);
  return `hivebar daemon drain --tenant ${tenant} --identity ${identity}`;
}

/** Formats the same command for the local hive. */
export function formatInboxDrainCommand(name: string, session: string | null): string {
  const whose = session === null ? '' : ` --session ${quoteWord(session, 'SESSION')}`;
  return `hivebar inbox drain ${quoteWord(name, 'PERSONA')}${whose}`;
}

/**
 * Quotes a name so that no shell acts on it. A name that cannot be quoted is replaced by a placeholder, which the agent fills in.
 */
function quoteWord(name: string, instead: string): string {
  if (/^[A-Za-z0-9._][A-Za-z0-9._-]*$/.test(name) && name.length <= LONGEST_NAME) return name;
  const isQuotable = /^[\p{Letter}\p{Number}._][\p{Letter}\p{Number} ._-]*$/u.test(name);
  return isQuotable && name.length <= LONGEST_NAME ? `'${name}'` : instead;
}

const MOST_BYTES = 4096;

/**
 * The file with the address at which the runner of a persona can be asked to wake it. A daemon reads it, because it opens no
 * database.
 */
export function toWakeFile(run: string, persona: PersonaId): string {
  return join(run, 'wakes', toStem(persona));
}

/** Null removes the address. @throws Fault `unwritable` or `no-space` */
export function writeWake(disk: Disk, random: Random, path: string, url: string | null): void {
  if (url !== null) {
    writeAtomically(disk, random, path, `${url}\n`);
    return;
  }
  try {
    disk.files.unlink(path);
  } catch (error) {
    if (getErrno(error) !== 'ENOENT') throw error;
  }
}

/** Reads the address; null: there is none. @throws Fault `unreadable` */
export function readWake(disk: Disk, path: string): string | null {
  const bytes = readPrivate(disk, path, MOST_BYTES);
  const url = bytes === null ? '' : Buffer.from(bytes).toString('utf8').trim();
  return url === '' ? null : url;
}
