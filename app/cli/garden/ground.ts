import { basename } from 'node:path';
import { realClock, realRandom } from '../../../core/ports/index.ts';
import {
  type Asks,
  type Defect,
  type Hand,
  listenerAt,
  localStamp,
  type Places,
  realProcesses,
  statOf,
} from '../../../core/sources/garden/index.ts';
import { realDisk } from '../../../core/state/index.ts';
import { printable, printableJson } from '../../printable.ts';
import type { Io } from '../command.ts';
import { stderrLog } from '../stderr-log.ts';
import type { GardenArgs } from './args.ts';
import { placesHere } from './home.node.ts';

/** What every command of a garden has at hand. */
export interface Ground {
  readonly io: Io;
  readonly places: Places;
  readonly hand: Hand;
  readonly asks: Asks;
  readonly asJson: boolean;
}

const NAME = 'hivebar garden';

export function groundOf({ flags }: GardenArgs, io: Io): Ground {
  const places = placesHere(flags.store, io.env);
  const disk = realDisk(stderrLog(io, NAME));
  const hand: Hand = { disk, random: realRandom, clock: realClock, localStamp };
  const asks: Asks = { processes: realProcesses, listenerAt };
  return { io, places, hand, asks, asJson: flags.json === true };
}

/** Says that a store is empty because it is not there: a person may have meant another. One directory is enough to be there. */
export function sayIfNowhere({ io, places, hand }: Ground): void {
  const { sessions, mailbox, senders, receivers } = places;
  if ([sessions, mailbox, senders, receivers].some((path) => statOf(hand.disk, path) !== null)) return;
  io.err(`${NAME}: there is no store yet: no ${printable(sessions)}, nor anything beside it\n`);
}

/** One value as a line of JSON. */
export function sayJson({ io }: Ground, value: unknown): void {
  io.out(`${printableJson(JSON.stringify(value))}\n`);
}

/** Something that is not as it should be, on stderr; the exit code says whether it matters. */
export function complain({ io }: Ground, text: string): void {
  io.err(`${NAME}: ${printable(text)}\n`);
}

export function complainOf(ground: Ground, defects: readonly Defect[]): void {
  for (const { filename, message } of defects) complain(ground, `${filename}: ${message}`);
}

/** Defects of one of the directories, with names below the store. */
export function below(directory: string, defects: readonly Defect[]): readonly Defect[] {
  return defects.map(({ filename, message }) => ({ filename: `${basename(directory)}/${filename}`, message }));
}

/** Rows of cells as lines with columns; the last one is not padded, as names may be of any width. */
export function aligned(rows: readonly (readonly string[])[], toTheRight: readonly number[] = []): string {
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

/** Who a citizen is to a person: `claude-code · beta`. */
export function labelOf({ backend, cwd }: { readonly backend: string; readonly cwd: string }): string {
  return printable(`${backend} · ${basename(cwd) || cwd}`);
}
