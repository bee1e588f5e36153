import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchHive, benchHive } from '../bench/bench-hive.ts';
import { fileText, listNames, until } from '../bench/rig.ts';
import { trayOnAFakeClock } from '../soak/tray-on-a-fake-clock.ts';
import { type CountedProgram, type LoadedCode, type PackagedProgram, startCounted } from './counted-program.ts';
import type { Counts } from './counts.ts';
import type { FileUse } from './trace.ts';

const PERSONA = 'persona-0000';
const MESSAGES = 3;
/** In which what a start or a message leaves to do is done. */
const REST_MS = 2000;
const TICKS = 5;
const QUIET_MINUTES = 10;

/**
 * Each is started once before it is counted, so that its code is compiled, as it is at a user's. They run side by side: each
 * counts its own calls, and most of the time is rest.
 */
export async function countPrograms(packaged: PackagedProgram): Promise<Counts> {
  await Promise.all([countHeadless(packaged, 'watch-first', 0), countTray(packaged, 'tray-first', 0)]);
  const [headless, tray, ticks] = await Promise.all([
    countHeadless(packaged, 'watch', MESSAGES),
    countTray(packaged, 'tray', MESSAGES),
    countQuietTicks(packaged),
  ]);
  return { ...headless, ...tray, ...ticks };
}

async function countHeadless(packaged: PackagedProgram, name: string, messages: number): Promise<Counts> {
  await using hive = await benchHive([PERSONA]);
  const home = join(packaged.folder, name);
  const template = join(home, 'events.{persona}.ndjson');
  using program = startCounted(
    packaged,
    [
      ...([
        'hivebar.cjs',
        'watch',
        '--hive',
        hive.url,
        '--wait',
        '50',
        '--state-file',
        join(home, 'hive.json'),
      ] as const),
      ...['--events-file-template', template],
    ],
    { home },
  );
  const file = template.replace('{persona}', PERSONA);
  await untilArmed(file);
  await sleep(REST_MS);
  const start = program.takeFileUse();
  const use = await countMessages({ name: 'headless watch', program, hive, file, messages });
  return { ...toStartCounts('headless watch', await program.end(), start), ...use };
}

async function countTray(packaged: PackagedProgram, name: string, messages: number): Promise<Counts> {
  await using hive = await benchHive([PERSONA]);
  const home = join(packaged.folder, name);
  const state = join(home, 'hivebar');
  mkdirSync(join(state, 'config'), { recursive: true, mode: 0o700 });
  writeFileSync(join(state, 'config', 'config.json'), JSON.stringify({ primary: { is: 'kijito', base: hive.url } }), {
    mode: 0o600,
  });
  using program = startCounted(packaged, ['hivebar.cjs', 'run', '--port', '0', '--no-tray', '--no-notifications'], {
    home,
  });
  const file = join(state, 'events', `events.${PERSONA}.ndjson`);
  await untilArmed(file);
  await sleep(REST_MS);
  const start = program.takeFileUse();
  const use = await countMessages({ name: 'tray', program, hive, file, messages });
  using status = startCounted(packaged, ['hivebar.cjs', 'status', '--json'], { home, stdin: '\n', name: 'status' });
  const statusLoaded = await status.end();
  const event = { session_id: 's', hook_event_name: 'PostToolUse', cwd: home, tool_name: 'Bash', tool_response: 'x' };
  using hook = startCounted(
    packaged,
    ['hook.cjs', 'hook', '--harness', 'claude', '--event', 'PostToolUse', '--persona', PERSONA],
    { home, stdin: JSON.stringify(event), name: 'hook' },
  );
  const hookLoaded = await hook.end();
  return {
    ...toStartCounts('tray', await program.end(), start),
    ...use,
    ...toStartCounts('status --json', statusLoaded, status.takeFileUse()),
    ...toStartCounts('hook', hookLoaded, hook.takeFileUse()),
  };
}

function toStartCounts(program: string, { modules, bytes, parts }: LoadedCode, { opens }: FileUse): Counts {
  return {
    [`${program}: files of code loaded`]: modules,
    [`${program}: KiB of code loaded`]: Math.round(bytes / 1024),
    [`${program}: parts of Node loaded`]: parts,
    [`${program}: files opened at start`]: opens,
  };
}

interface MessageRun {
  /** Of the counts. */
  readonly name: string;
  readonly program: CountedProgram;
  readonly hive: BenchHive;
  /** Where the lines come. */
  readonly file: string;
  readonly messages: number;
}

/** From the hive to the line, and all that is done afterwards. */
async function countMessages({ name, program, hive, file, messages }: MessageRun): Promise<Counts> {
  const countRequests = (): number => hive.counts.inbox + hive.counts.pending + hive.counts.personas;
  const requests = countRequests();
  for (let n = 0; n < messages; n += 1) {
    const id = hive.deliver(PERSONA);
    await until('its line', () => fileText(file)?.includes(`message ${id} `));
    await sleep(REST_MS);
  }
  const { flushes, bytes } = program.takeFileUse();
  return {
    [`${name}: requests for ${messages} messages`]: countRequests() - requests,
    [`${name}: flushes for ${messages} messages`]: flushes,
    [`${name}: bytes written for ${messages} messages`]: bytes,
  };
}

async function countQuietTicks(packaged: PackagedProgram): Promise<Counts> {
  await using hive = await benchHive([PERSONA]);
  const home = join(packaged.folder, 'ticks');
  const template = join(home, 'events.{persona}.ndjson');
  const args = ['--poll-seconds', '1', '--resync-every', '1000', '--state-file', join(home, 'hive.json')];
  using program = startCounted(
    packaged,
    ['hivebar.cjs', 'watch', '--hive', hive.url, ...args, '--events-file-template', template],
    { home },
  );
  await untilArmed(template.replace('{persona}', PERSONA));
  await sleep(REST_MS);
  program.takeFileUse();
  const before = { ...hive.counts };
  await until('its ticks', () => hive.counts.pending >= before.pending + TICKS);
  const use = program.takeFileUse();
  const others = hive.counts.inbox + hive.counts.personas - before.inbox - before.personas;
  await program.end();
  return {
    [`quiet tick: requests beside the pending list, ${TICKS} ticks`]: others,
    [`quiet tick: files opened, ${TICKS} ticks`]: use.opens,
    [`quiet tick: flushes, ${TICKS} ticks`]: use.flushes,
    [`quiet tick: bytes written, ${TICKS} ticks`]: use.bytes,
  };
}

async function untilArmed(file: string): Promise<void> {
  await until(`armed in ${file}`, () => fileText(file)?.includes('"armed"'), 60_000);
}

/** Timers of the tray process without its server, and of its hive: each wakes it. */
export async function countWakeUps(): Promise<Counts> {
  const counts: Record<string, number> = {};
  for (const personas of [1, 100]) {
    await using tray = await trayOnAFakeClock({ personas: listNames(personas) });
    await tray.clock.advance(5 * 60_000);
    const before = tray.clock.ran;
    await tray.clock.advance(QUIET_MINUTES * 60_000);
    counts[`quiet ${QUIET_MINUTES} minutes on a fake clock: wake-ups, ${personas} personas`] = tray.clock.ran - before;
  }
  return counts;
}
