/**
 * `node scripts/run.mjs test/soak/watched-trees.ts [MINUTES]`: watches what real programs write, and shows that watching leaves no
 * trace. Claude Code, Codex, agmsg, AMQ and a garden are written to all the time. Once in a minute the writers are stopped, and every
 * watched tree is compared over more than one sweep of Hivebar: content, mode, times and side files. All the time strace reports
 * calls of Hivebar that would change or lock something there. At the end, every message must have been told once.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { drain, enqueue, upsert } from '../../core/sources/garden/act/index.ts';
import { agentTerminals, listProcesses, prepareClaude, prepareCodex } from '../kit/agent-terminal.ts';
import { createAgmsgHome } from '../kit/agmsg-store.ts';
import { amqQueue } from '../kit/amq-queue.ts';
import { garden, handAt } from '../kit/garden-store.ts';
import { modelServer } from '../kit/model-server.ts';
import { realClient } from '../kit/real-clients.ts';
import { CHANGES, LOCKS, OPENS_TO_WRITE } from '../kit/strace.ts';
import { trayHome } from '../kit/tray-process.ts';
import { describeTree } from '../kit/watched-tree.ts';

const runFile = promisify(execFile);
const minutes = Number(process.argv[2] ?? 60);
/** A window is longer than the sweep of every source. */
const WINDOW_MS = 13_000;
const WORK_MS = 45_000;
const never = new AbortController().signal;
/** SQLite notes its readers there, which the contracts of both databases allow. */
const ALLOWED = /-shm\b/;
/** A reader of a database takes shared locks for as long as a statement runs. */
const DATABASE = /\.(?:sqlite|db)(?:-wal|-shm)?>/;
const DATABASE_FILE = /\.(?:sqlite|db)(?:-wal|-shm)?$/;
const STATEMENT_MS = 300;
/** SQLite opens the log beside a database for writing, whoever asks, and as root it gives the log to its owner again. */
const LOG_OPENED = /^\d+ +(?:openat\(|fchown\().*\.(?:sqlite|db)-wal\b/;

const claude = realClient('claude');
const codex = realClient('codex');
if ('missing' in claude) throw new Error(claude.missing);
if ('missing' in codex) throw new Error(codex.missing);

await using stack = new AsyncDisposableStack();
const agmsg = stack.use(createAgmsgHome());
const amq = stack.use(amqQueue('empty'));
const citizens = stack.use(garden());
const home = stack.use(
  trayHome({
    primary: { is: 'local' },
    agmsg: { is: 'auto', roots: [agmsg.root] },
    amq: { roots: [amq.project] },
    garden: { is: 'auto', store: citizens.store },
  }),
);
const project = join(home.home, 'project');
mkdirSync(project);
const trees: Readonly<Record<string, string>> = {
  claude: join(home.home, '.claude'),
  codex: join(home.home, '.codex'),
  agmsg: agmsg.root,
  amq: amq.project,
  garden: citizens.store,
};

// Who is there, before anybody watches.
agmsg.writeTeam('crew', ['alice', 'bob']);
agmsg.send('crew', 'bob', 'from before');
for (const handle of ['ada', 'bo']) amq.addAgent(handle);
const hand = () => handAt({ now: new Date().toISOString() });
const { gardenId } = upsert(hand(), citizens.places, {
  ...{ backend: 'codex', nativeSessionId: 'river', cwd: '/fields/river' },
}).record;

let reports = 0;
let waves = 0;
const sent = { agmsg: 0, amq: 0, garden: 0, codex: 0, team: 0 };
const model = stack.use(
  await modelServer(({ fresh, first }) => {
    const wave = /ANA-TASK (\d+)/.exec(first)?.[1];
    if (wave !== undefined) {
      if (Number(wave) < waves || reports >= 3) return null;
      reports += 1;
      sent.team += 1;
      return [{ tool: 'SendMessage', input: { to: 'team-lead', summary: `n ${sent.team}`, message: 'REPORT' } }];
    }
    if (!fresh.includes('Start the team')) return null;
    waves += 1;
    reports = 0;
    const member = { description: 'reports', prompt: `ANA-TASK ${waves}`, subagent_type: 'general-purpose' };
    return [{ tool: 'Agent', input: { ...member, name: `ana${waves}` } }];
  }),
);
const env = {
  ...prepareClaude(home.home, project, model.url),
  ...prepareCodex(home.home, [project], model.url),
  CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1',
};
const runCodex = async (...args: readonly string[]): Promise<string> => {
  const outside = { PATH: process.env.PATH, HOME: home.home, LANG: 'C.UTF-8', HTTPS_PROXY: 'http://127.0.0.1:9' };
  const running = runFile(codex.program, args, { cwd: project, env: { ...outside, ...env } });
  running.child.stdin?.end();
  return (await running).stdout;
};
const output = await runCodex('exec', '--skip-git-repo-check', '--json', 'hello');
const thread = /"thread_id":"([0-9a-f-]+)"/.exec(output)?.[1] ?? '';
await runCodex('queue', '--thread', thread, '--message', 'from before');
const tray = stack.use(await home.start(['--no-tray', '--no-notifications'], env));
const terminals = stack.use(agentTerminals(home.home));
terminals.start('one', project, env, [claude.program, '--permission-mode', 'default']);
await terminals.shows('one', /\n❯\s*\n─/);
await tray.until('the sources', ({ personas }) =>
  ['claude', 'codex', 'agmsg', 'amq'].every((prefix) => personas.some(({ id }) => id.startsWith(`${prefix}-`))),
);

const offences: string[] = [];
const traced = '%file,flock,fcntl,ftruncate,fchmod,fchown,write,pwrite64,writev';
const tracer = spawn('strace', ['-f', '-y', '-qq', '-e', `trace=${traced}`, '-e', 'signal=none', '-p', `${tray.pid}`], {
  stdio: ['ignore', 'ignore', 'pipe'],
});
stack.defer(() => void tracer.kill());
let rest = '';
let lines = 0;
tracer.stderr.setEncoding('utf8').on('data', (text: string) => {
  const parts = (rest + text).split('\n');
  rest = parts.pop() ?? '';
  lines += parts.length;
  for (const part of parts) {
    if (!Object.values(trees).some((tree) => part.includes(tree)) || ALLOWED.test(part)) continue;
    const call = part.replace(/^\[pid +(\d+)\] /, '$1 ').replace(/^(?=[a-z])/, '1 ');
    if (LOG_OPENED.test(call)) continue;
    const isLock = LOCKS.test(call) && !DATABASE.test(call);
    if (isLock || OPENS_TO_WRITE.test(call) || CHANGES.test(call)) offences.push(call.slice(0, 300));
  }
});

/** Files of the trees on which the tray process holds a lock, longer than it reads a database. */
async function listHeldLocks(): Promise<readonly string[]> {
  const now = listLocked();
  if (now.length === 0) return [];
  await sleep(STATEMENT_MS);
  const later = listLocked();
  return now.filter((path) => !DATABASE_FILE.test(path) || later.includes(path));
}

function listLocked(): readonly string[] {
  const own = readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .filter((line) => line.split(/\s+/)[4] === `${tray.pid}`);
  if (own.length === 0) return [];
  const inodes = new Set(own.map((line) => line.split(/\s+/)[5]?.split(':')[2]));
  return Object.values(trees).flatMap((tree) =>
    (readdirSync(tree, { recursive: true }) as string[]).flatMap((name) => {
      const stat = statSync(join(tree, name), { throwIfNoEntry: false });
      return stat !== undefined && inodes.has(`${stat.ino}`) ? [join(tree, name)] : [];
    }),
  );
}

const describeTrees = (): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(Object.entries(trees).map(([name, root]) => [name, describeTree(root, { ignoreShm: true })]));

/** The processes of the real programs, which write from time to time even when nobody asks them. */
const listWriters = (): readonly number[] => listProcesses(home.home).filter((pid) => pid !== tray.pid && !isOurs(pid));

function isOurs(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`HIVEBAR_HOME=${home.dir}\0`);
  } catch {
    return true; // it ended
  }
}

function stopWriters(signal: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of listWriters()) spawnSync('kill', ['-s', signal.slice(3), `${pid}`]);
}

async function work(until: number): Promise<void> {
  for (let n = 0; performance.now() < until; n += 1) {
    agmsg.send('crew', 'bob', `mail ${sent.agmsg}`);
    sent.agmsg += 1;
    if (n % 3 === 2) agmsg.readAll('crew', 'bob');
    const name = amq.send('ada', { body: `mail ${sent.amq}` });
    sent.amq += 1;
    if (n % 2 === 1) amq.claim('ada', name);
    if (n % 3 === 0) await drain(hand(), citizens.places, gardenId, never); // what lay there for some seconds
    enqueue(hand(), citizens.places, gardenId, `mail ${sent.garden}`);
    sent.garden += 1;
    // Codex keeps at most 100 messages in a queue, which is more than come in an hour.
    if (n % 8 === 0) {
      await runCodex('queue', '--thread', thread, '--message', `mail ${sent.codex}`);
      sent.codex += 1;
    }
    if (n === 1) await terminals.say('one', 'Start the team');
    if (n === 2) await runCodex('exec', '--skip-git-repo-check', 'resume', thread, 'go on');
    if (n > 3) await terminals.say('one', `turn ${n}`);
    await sleep(3000);
  }
}

const changes: string[] = [];
const held: string[] = [];
let windows = 0;
const end = performance.now() + minutes * 60_000;
while (performance.now() < end) {
  await work(Math.min(end, performance.now() + WORK_MS));
  await sleep(2000);
  stopWriters('SIGSTOP');
  await sleep(500);
  const before = describeTrees();
  for (let part = 0; part < 4; part += 1) {
    await tray.post('/api/v1/actions/poll', {});
    await sleep(WINDOW_MS / 4);
    held.push(...(await listHeldLocks()));
  }
  const after = describeTrees();
  stopWriters('SIGCONT');
  windows += 1;
  for (const [name, was] of Object.entries(before)) {
    const now = new Set(after[name]);
    changes.push(...was.filter((line) => !now.has(line)).map((line) => `${name}: ${line}`));
  }
  const { personas } = await tray.status();
  const down = personas.filter(({ state }) => state !== 'UP').map(({ id, reason }) => `${id}: ${reason}`);
  process.stdout.write(
    `${JSON.stringify({ windows, ...sent, changes: changes.length, offences: offences.length, held: held.length, down })}\n`,
  );
}

await sleep(3000);
const count = (stem: RegExp, event: string): number =>
  readdirSync(home.at('events'))
    .filter((name) => stem.test(name))
    .flatMap((name) => home.events(name.replace(/^events\.|\.ndjson.*$/g, '')))
    .filter((line) => line.event === event).length;
const delivered = {
  agmsg: count(/^events\.agmsg-bob.*\.ndjson$/, 'new'),
  amq: count(/^events\.amq-ada.*\.ndjson$/, 'new'),
  garden: count(/^events\.garden-.*\.ndjson$/, 'new'),
  codex: count(/^events\.codex-.*\.ndjson$/, 'new'),
  team: count(/^events\.claude-[0-9a-f]{8}\.ndjson$/, 'new'),
};
const result = { minutes, windows, lines, sent, delivered, changes, offences: [...new Set(offences)], held };
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
const isSame = JSON.stringify(sent) === JSON.stringify(delivered);
process.exitCode = changes.length + offences.length + held.length === 0 && isSame && windows > 0 ? 0 : 1;
