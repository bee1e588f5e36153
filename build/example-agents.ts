import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readStartKey } from '../app/open/index.ts';
import { formatSessionReport, type SessionReport } from '../core/hooks/index.ts';
import { readProcess } from '../core/sources/claude/read/processes.node.ts';
import type { CodexHome } from '../test/kit/codex-queue.ts';
import type { TrayHome } from '../test/kit/tray-process.ts';

/**
 * Agents at work for the pictures, as their programs leave them on the disk: reports of hooks for the personas of `hivebar demo`, two
 * sessions of Claude Code that nobody announced, and a thread of Codex. Each has a process that lives until it is disposed.
 */
export function startExampleAgents(home: TrayHome, codex: CodexHome): Disposable {
  const children: ChildProcess[] = [];
  const start = (command: string, ...args: string[]): number => {
    const child = spawn(command, args, { stdio: 'ignore' });
    children.push(child);
    return child.pid ?? 0;
  };
  writeReports(home, () => start('sleep', '600'));
  writeSessions(home.home, () => start('sleep', '600'));
  const thread = codex.addThread('ledger');
  codex.enqueue(thread, 'The totals of May are off by one row.');
  start('flock', join(codex.home, 'thread-writer-locks', `${thread}.lock`), 'sleep', '600');
  return {
    [Symbol.dispose]() {
      for (const child of children) child.kill('SIGKILL');
    },
  };
}

const MINUTE = 60_000;

function writeReports(home: TrayHome, start: () => number): void {
  const now = Date.now();
  const folder = home.at('run', 'agents');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const write = (persona: string, harness: string, more: Partial<SessionReport>): void => {
    const pid = start();
    const report: SessionReport = {
      ...{
        session: `example-${persona}`,
        harness,
        persona,
        cwd: null,
        model: null,
        is: 'working',
        since: now,
        waits: [],
      },
      runner: { pid, startKey: readStartKey(pid, process.platform), lock: null },
      ...more,
    };
    writeFileSync(join(folder, `example-${persona}.json`), formatSessionReport(report), { mode: 0o600 });
  };
  write('ada', 'claude', { cwd: '/srv/parser', model: 'opus', since: now - 12 * MINUTE });
  write('bo', 'claude', {
    ...{ cwd: '/srv/api', model: 'sonnet', since: now - 25 * MINUTE },
    waits: [{ agent: null, reason: 'permission', since: now - 3 * MINUTE, tool: 'Bash' }],
  });
  write('cyrus', 'claude', { cwd: '/srv/docs', model: 'haiku', is: 'idle', since: now - 40 * MINUTE });
  write('dora', 'codex', { cwd: '/srv/schema', model: 'gpt-5-codex', since: now - 2 * MINUTE });
}

function writeSessions(home: string, start: () => number): void {
  const folder = join(home, '.claude', 'sessions');
  mkdirSync(folder, { recursive: true });
  const now = Date.now();
  for (const [id, name, cwd, status, minutes] of [
    ['60985bb0', 'checkout', '/srv/web', 'busy', 6],
    ['7f21c4de', 'release notes', '/srv/docs', 'idle', 55],
  ] as const) {
    const pid = start();
    const life = readProcess(pid);
    const at = now - minutes * MINUTE;
    const session = {
      ...{
        pid,
        sessionId: `${id}-0000-4000-8000-000000000000`,
        cwd,
        startedAt: at,
        procStart: life.is === 'running' ? (life.startKey ?? '') : '',
      },
      ...{ version: '2.1.332', kind: 'interactive', entrypoint: 'cli', name, nameSource: 'user' },
      ...{ status, updatedAt: at, statusUpdatedAt: at },
    };
    writeFileSync(join(folder, `${pid}.json`), JSON.stringify(session));
  }
}
