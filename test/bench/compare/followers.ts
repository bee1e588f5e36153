/** What follows event files and hands each line to a reader. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheHome, packed, spin, temporary, until } from '../rig.ts';
import { type Contestant, listGroup, type StartContestant, startGroup, stopGroup } from './contestant.ts';

interface LineFollower {
  readonly name: string;
  readonly file: string;
  /** @param folder where the files are, one per persona */
  args(folder: string, personas: readonly string[]): readonly string[];
  /** What the reader sees of a line that was written. */
  readonly sees: 'line' | 'name of the file';
  /** So long it hands over nothing after a line, so that several lines wake an agent once. */
  readonly pauseMs: number;
}

/** Follows one persona: each agent has its own. */
export const startHivebarFollow: StartContestant = async (personas) => {
  if (personas.length > 1) return null;
  const entry = join(await packed(), 'hivebar.cjs');
  const flags = ['--harness', 'claude', '--json', '--no-session', '--from', 'now'];
  const args = (_: string, names: readonly string[]): readonly string[] => [entry, 'follow', ...flags, ...names];
  return await startFollower(
    { name: 'hivebar follow', file: process.execPath, args, sees: 'line', pauseMs: 1000 },
    personas,
  );
};

export const startTailWithJq: StartContestant = (personas) => {
  const script = 'tail -q -n 0 -F "$@" | jq --unbuffered -c .';
  const args = (folder: string, names: readonly string[]): readonly string[] => [
    ...['-c', script, 'sh'],
    ...names.map((name) => toPath(folder, name)),
  ];
  return startFollower({ name: 'tail -F with jq', file: '/bin/sh', args, sees: 'line', pauseMs: 0 }, personas);
};

/** Says only that a file changed: who wants the line has to read it. */
export const startInotifywait: StartContestant = (personas) => {
  const args = (folder: string): readonly string[] => ['-q', '-m', '-e', 'modify', '--format', '%f', folder];
  return startFollower(
    { name: 'inotifywait', file: 'inotifywait', args, sees: 'name of the file', pauseMs: 0 },
    personas,
  );
};

/** What of these is not installed. */
export function findMissing(programs: readonly string[]): readonly string[] {
  return programs.filter(
    (name) => spawnSync('/bin/sh', ['-c', `command -v ${name}`], { stdio: 'ignore' }).status !== 0,
  );
}

const toName = (persona: string): string => `events.${persona}.ndjson`;
const toPath = (folder: string, persona: string): string => join(folder, toName(persona));

async function startFollower(program: LineFollower, personas: readonly string[]): Promise<Contestant> {
  const home = temporary();
  const state = join(home, 'hivebar');
  const folder = join(state, 'events');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  let id = 0;
  const write = (persona: string): string => {
    id += 1;
    appendFileSync(toPath(folder, persona), `${formatEvent(persona, id)}\n`);
    return program.sees === 'line' ? `"${persona}:new:${id}"` : toName(persona);
  };
  for (const persona of personas) writeFileSync(toPath(folder, persona), '', { mode: 0o600 });
  const from = performance.now();
  const child = startGroup(program.file, program.args(folder, personas), {
    env: { PATH: process.env.PATH, HOME: home, HIVEBAR_HOME: state, XDG_CACHE_HOME: cacheHome() },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  // It has begun when it saw the last file change. Lines from before are not told by a follower that begins at the end.
  const last = personas.at(-1) ?? '';
  await until(
    program.name,
    async () => {
      if (child.exitCode !== null) throw new Error(`${program.name} ended with ${child.exitCode}`);
      const seen = write(last);
      await sleep(20);
      return output.includes(seen);
    },
    60_000,
  );
  const readyAfter = performance.now() - from;
  await sleep(500);
  return {
    name: program.name,
    readyAfter,
    pids: () => listGroup(child.pid ?? 0),
    async deliver(persona) {
      if (program.pauseMs > 0) await sleep(1.1 * program.pauseMs);
      output = '';
      const at = performance.now();
      const seen = write(persona);
      await spin(() => output.includes(seen), 20_000);
      return performance.now() - at;
    },
    async storm() {
      output = '';
      const at = performance.now();
      const wanted = personas.map(write);
      await spin(() => {
        while (wanted.length > 0 && output.includes(wanted.at(-1) ?? '')) wanted.pop();
        return wanted.length === 0;
      }, 60_000);
      return performance.now() - at;
    },
    stop: () => stopGroup(child),
  };
}

function formatEvent(persona: string, id: number): string {
  const ts = new Date().toISOString();
  const content = `message ${id} ${'x'.repeat(150)}`;
  const message = { id, from: 'bench', content, created: ts };
  const event = { event: 'new', source: 'kijito-inbox', ts, ...message, persona, event_id: `${persona}:new:${id}` };
  return JSON.stringify({ ...event, wake_class: 'mail' })
    .replaceAll('":', '": ')
    .replaceAll(',"', ', "');
}
