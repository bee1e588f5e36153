/**
 * `node build/harness-screenshots.ts [FOLDER]`: for the guide of each agent program its agent on the page, as the hooks of that program
 * report it, with mail.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readStartKey } from '../app/open/index.ts';
import {
  advanceSessionReport,
  findHarness,
  formatSessionReport,
  HARNESS_NAMES,
  type HarnessName,
  type SessionReport,
} from '../core/hooks/index.ts';
import { Fault } from '../core/model/index.ts';
import { type TrayHome, trayHome } from '../test/kit/tray-process.ts';
import { capturePageScreenshots } from './page-screenshots.ts';

/** In the pictures each agent has a prompt and, where its program says so, waits at a permission prompt. */
const MOMENTS = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PermissionRequest', 'Notification'];
const FOLDER = '/srv/shop';
const MINUTE = 60_000;

/** What a program sends to its hooks: the documented input of the tests, else the form that Claude Code and Codex share. */
function readInputs(name: HarnessName): Readonly<Record<string, object>> {
  const tool = { tool_name: 'Bash', tool_input: { command: 'npm test' } };
  const common = { session_id: 'example', cwd: FOLDER, model: name === 'codex' ? 'gpt-5-codex' : 'opus' };
  if (name === 'claude' || name === 'codex')
    return {
      SessionStart: { ...common, source: 'startup' },
      UserPromptSubmit: { ...common, prompt: 'run the tests' },
      PermissionRequest: { ...common, ...tool },
    };
  const path = join(import.meta.dirname, '..', 'core', 'hooks', 'harness', 'golden', 'stdin', `${name}.json`);
  return JSON.parse(readFileSync(path, 'utf8').replaceAll('/tmp/project', FOLDER)) as Record<string, object>;
}

/** Writes the report that the hooks of this program leave of a session whose process is `pid`. */
function writeReport(home: TrayHome, name: HarnessName, pid: number): void {
  const inputs = readInputs(name);
  const runner = { pid, startKey: readStartKey(pid, process.platform), lock: null };
  const facts = { harness: name, persona: 'ada', findRunner: () => runner };
  let report: SessionReport | null = null;
  for (const [index, moment] of MOMENTS.entries()) {
    const input = inputs[moment];
    const turn = input === undefined ? null : findHarness(name, null)?.readTurn(JSON.stringify(input), moment);
    if (turn instanceof Fault) throw turn;
    if (turn != null)
      report = advanceSessionReport(report, turn, facts, Date.now() - (MOMENTS.length + 2 - index) * MINUTE);
  }
  if (report === null) throw new Error(`${name} reports nothing`);
  const folder = home.at('run', 'agents');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'example.json'), formatSessionReport(report), { mode: 0o600 });
}

async function captureHarness(name: HarnessName, folder: string, executablePath: string): Promise<void> {
  using home = trayHome({ primary: { is: 'local' }, codex: { is: 'off' } });
  const agent = spawn('sleep', ['600'], { stdio: 'ignore' });
  try {
    writeReport(home, name, agent.pid ?? 0);
    await using tray = await home.start(['--no-tray', '--no-notifications']);
    await home.run(['send', '--to', 'ada', '--from', 'bo', 'The parser branch is ready.']);
    await home.run(['send', '--to', 'ada', '--from', 'ci', '--urgent', 'main is red: 2 of 418 tests fail.']);
    await tray.persona('ada', ({ unread, agent: state }) => unread === 2 && state !== undefined);
    await capturePageScreenshots({
      ...{ folder, executablePath, tray },
      views: [{ name: `harness-${name}.png`, colorScheme: 'light', viewport: { width: 640, height: 470 } }],
      async show(page) {
        await page.goto(`${tray.url}/`);
        await page.locator('.card [data-slot="from"]').first().waitFor();
      },
    });
  } finally {
    agent.kill();
  }
}

/** Writes the pictures into `folder`, taken with the Chromium at `executablePath`. */
export async function captureHarnessScreenshots(folder: string, executablePath: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const name of HARNESS_NAMES) await captureHarness(name, folder, executablePath);
}

if (import.meta.main) {
  await captureHarnessScreenshots(
    process.argv[2] ?? join(import.meta.dirname, '..', 'docs', 'img'),
    '/usr/bin/chromium',
  );
}
