/** What asks a hive and writes a line per message into a file per persona. */
import { execFileSync } from 'node:child_process';
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { benchHive } from '../bench-hive.ts';
import { cacheHome, packed, spin, temporary, until } from '../rig.ts';
import { type Contestant, listGroup, type StartContestant, startGroup, stopGroup } from './contestant.ts';

/** How it is started: file, arguments before those that all share, environment. */
interface MessageWatcher {
  readonly name: string;
  readonly file: string;
  args(hive: string): readonly string[];
}

const WAIT_S = 50;

export async function startHivebarWatcher(personas: readonly string[]): Promise<Contestant> {
  const entry = join(await packed(), 'hivebar.cjs');
  const args = (hive: string): readonly string[] => [entry, 'watch', '--hive', hive];
  return await startWatcher({ name: 'hivebar watch', file: process.execPath, args }, personas);
}

/** The monitor asks one fixed address; this makes it ask the hive of this machine. Nothing else of it is changed. */
const REDIRECT = `
import sys
sys.path.insert(0, sys.argv[1])
import kijito_inbox_monitor as monitor
base = sys.argv[2]
monitor.KIJITO_BASE = base
monitor.INBOX_URL = base + '/api/inbox'
monitor.PERSONAS_URL = base + '/api/personas'
monitor.NOTIFY_PENDING_URL = base + '/api/notify/pending'
sys.exit(monitor.main(sys.argv[3:]))
`;

/** @param folder the sources of the Python monitor */
export function pythonMonitor(folder: string): StartContestant {
  // A python3 on PATH may be a script that starts the real one, which would be in the time of the start.
  const file = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
  const args = (hive: string): readonly string[] => ['-c', REDIRECT, folder, hive];
  return (personas) => startWatcher({ name: 'Python monitor', file, args }, personas);
}

async function startWatcher(program: MessageWatcher, personas: readonly string[]): Promise<Contestant> {
  const hive = await benchHive(personas);
  const home = temporary();
  const template = join(home, 'events.{persona}.ndjson');
  const toPath = (persona: string): string => template.replace('{persona}', persona);
  const flags = ['--wait', String(WAIT_S), '--state-file', join(home, 'hive.json'), '--events-file-template', template];
  const from = performance.now();
  const child = startGroup(program.file, [...program.args(hive.url), ...flags], {
    env: {
      PATH: process.env.PATH,
      HOME: home,
      HIVEBAR_HOME: join(home, 'hivebar'),
      XDG_CACHE_HOME: cacheHome(),
      KIJITOMON_TOKEN: 'bench',
      PYTHONPYCACHEPREFIX: cacheHome(),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-2000);
  });
  const isArmed = (persona: string): boolean => (statSync(toPath(persona), { throwIfNoEntry: false })?.size ?? 0) > 0;
  await until(
    `${program.name} armed`,
    () => {
      if (child.exitCode !== null) throw new Error(`${program.name} ended:\n${stderr}`);
      return personas.every(isArmed);
    },
    120_000,
  );
  const readyAfter = performance.now() - from;
  const files = new Map(personas.map((persona) => [persona, openSync(toPath(persona), 'r')]));
  const readSize = (persona: string): number => fstatSync(files.get(persona) ?? -1).size;
  return {
    name: program.name,
    readyAfter,
    pids: () => listGroup(child.pid ?? 0),
    async deliver(persona) {
      await spin(() => hive.holding, 20_000);
      const before = readSize(persona);
      const at = performance.now();
      hive.deliver(persona);
      await spin(() => readSize(persona) > before, 20_000);
      return performance.now() - at;
    },
    async storm() {
      await spin(() => hive.holding, 20_000);
      const before = new Map(personas.map((persona) => [persona, readSize(persona)]));
      const at = performance.now();
      for (const persona of personas) hive.deliver(persona);
      const left = [...personas];
      await spin(() => {
        while (left.length > 0 && readSize(left.at(-1) ?? '') > (before.get(left.at(-1) ?? '') ?? 0)) left.pop();
        return left.length === 0;
      }, 60_000);
      return performance.now() - at;
    },
    async stop() {
      const took = await stopGroup(child);
      for (const fd of files.values()) closeSync(fd);
      await hive[Symbol.asyncDispose]();
      return took;
    },
  };
}
