import { basename } from 'node:path';
import type { Io } from '../../../command/index.ts';
import { displayJson, displayName } from '../../../format/index.ts';
import { realClock, realRandom } from '../../../ports/index.ts';
import { createRealDisk } from '../../../state/index.ts';
import type { CommandHost } from '../../module.ts';
import {
  type Defect,
  formatLocalStamp,
  type GardenPlaces,
  type LivenessProbes,
  probeListener,
  readProcesses,
  readStat,
  resolveGardenPlaces,
  type WriteContext,
} from '../index.ts';
import type { GardenArgs } from './args.ts';

/** What every command of a garden needs. */
export interface GardenContext {
  readonly host: CommandHost;
  readonly io: Io;
  readonly places: GardenPlaces;
  readonly hand: WriteContext;
  readonly asks: LivenessProbes;
  readonly asJson: boolean;
}

const NAME = 'hivebar garden';

export function createContext({ flags }: GardenArgs, io: Io, host: CommandHost): GardenContext {
  const places = resolveGardenPlaces(flags.store, io.env);
  const disk = createRealDisk(host.createLog(io, NAME));
  const hand: WriteContext = { disk, random: realRandom, clock: realClock, formatLocalStamp };
  const asks: LivenessProbes = { readProcesses: readProcesses, probeListener };
  return { host, io, places, hand, asks, asJson: flags.json === true };
}

/**
 * Reports that a store is empty because it does not exist: the person may have meant another. One of its directories is enough.
 */
export function reportMissingStore({ io, places, hand }: GardenContext): void {
  const { sessions, mailbox, senders, receivers } = places;
  if ([sessions, mailbox, senders, receivers].some((path) => readStat(hand.disk, path) !== null)) return;
  io.err(`${NAME}: there is no store yet: ${displayName(sessions)} does not exist, nor anything beside it\n`);
}

/** Prints one value as a line of JSON. */
export function printJson({ io }: GardenContext, value: unknown): void {
  io.out(`${displayJson(JSON.stringify(value))}\n`);
}

/** Prints a problem to stderr. The exit code says whether it matters. */
export function complain({ io }: GardenContext, text: string): void {
  io.err(`${NAME}: ${displayName(text)}\n`);
}

export function reportDefects(context: GardenContext, defects: readonly Defect[]): void {
  for (const { filename, message } of defects) complain(context, `${filename}: ${message}`);
}

/** Puts the name of a directory of the store before the file names of its defects. */
export function prefixDefects(directory: string, defects: readonly Defect[]): readonly Defect[] {
  return defects.map(({ filename, message }) => ({ filename: `${basename(directory)}/${filename}`, message }));
}

/** Formats rows of cells as aligned lines. The last column is not padded, because names may have any width. */
export function formatTable(rows: readonly (readonly string[])[], toTheRight: readonly number[] = []): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, { length }] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, length);
  }
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => {
        const width = column === row.length - 1 ? 0 : (widths[column] ?? 0);
        return toTheRight.includes(column) ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ');
  return rows.map((row) => `${line(row)}\n`).join('');
}

/** Formats a citizen for a person: `claude-code · beta`. */
export function formatLabel({ backend, cwd }: { readonly backend: string; readonly cwd: string }): string {
  return displayName(`${backend} · ${basename(cwd) || cwd}`);
}
