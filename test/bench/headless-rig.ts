import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Running, start, temporary, until } from './rig.ts';

export interface Headless {
  /** Event files and state files. */
  readonly home: string;
  readonly cli: Running;
  /** Milliseconds from the start of the process to the last `armed`. */
  readonly armedAfter: number;
}

/** `hivebar watch` over all personas of a hive, with a file for each; once all of them are armed. */
export async function startHeadless(hive: string, personas: number, args: readonly string[]): Promise<Headless> {
  const home = temporary();
  const from = performance.now();
  const files = [
    '--state-file',
    join(home, 'hive.json'),
    '--events-file-template',
    join(home, 'events.{persona}.ndjson'),
  ];
  const cli = await start(['watch', '--hive', hive, ...files, ...args], home);
  const listFiles = (): string[] => readdirSync(home).filter((name) => name.startsWith('events.'));
  await until('armed of all', () => listFiles().length === personas, 60_000);
  return { home, cli, armedAfter: performance.now() - from };
}
