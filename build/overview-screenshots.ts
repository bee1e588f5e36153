/** `node build/overview-screenshots.ts [FOLDER]`: the overview of few and of many personas, of the real status server in a real browser. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type MailEvent, toMailEventId } from '../core/events/index.ts';
import { parseNewDecision } from '../core/inbox/decisions/index.ts';
import { type AgentState, Fault, formatIso } from '../core/model/index.ts';
import { type StatusRig, statusRig, TOKEN } from '../test/kit/status-rig.ts';
import { capturePageScreenshots } from './page-screenshots.ts';

const STOPPED = 'overview-stopped.png';
const COUNTS: readonly number[] = [0, 1, 7, 40, 200, 1000];
const SIZES = [
  { size: 'desktop', viewport: { width: 1280, height: 860 } },
  { size: 'phone', viewport: { width: 390, height: 844 } },
] as const;
const SCHEMES = ['light', 'dark'] as const;
const NAMES = ['ada', 'bo', 'cyrus', 'dora', 'emil', 'fay', 'gus', 'hana', 'ivo', 'jun'];
const MAIL = [
  ['bo', 'The parser branch is ready. Could you look at the error paths before I merge?'],
  ['ci', 'main is red: 2 of 418 tests fail since your last push.'],
  ['ada', 'Reviewed. One question about the retry limit, otherwise fine.'],
  ['dora', 'Schema change landed; rebase before you go on.'],
  ['me', 'Please write the release notes for 0.4 when you have a moment.'],
] as const;

/** Fills the board with agents that work, wait and are away, in two hives and one that is down. */
function fillBoard(rig: StatusRig, count: number): void {
  const now = Date.now();
  for (let i = 0; i < count; i += 1) {
    const id = i < NAMES.length ? (NAMES[i] ?? '') : `${NAMES[i % NAMES.length]}-${Math.floor(i / NAMES.length)}`;
    const source = count < 7 ? 'local' : i % 7 === 3 ? 'team' : i % 7 === 5 ? 'kijito' : 'local';
    rig.join(id, id, source);
    if (source === 'kijito') {
      const scope = { is: 'source', key: source } as const;
      const fault = new Fault('refused', 'connect to http://127.0.0.1:7474 was refused', scope);
      const health = { is: 'down', since: now - 400_000, failures: 9, why: 'refused' } as const;
      rig.board.put({ is: 'failed', at: now, persona: id, fault, health });
      continue;
    }
    const at = now - (((i * 37) % 900) + 1) * 60_000;
    rig.board.put({ is: 'delivered', at, persona: id, events: [createMailFrom(id, 100 + i, at)] });
    rig.poll(id, i % 3 === 0 ? 0 : (i * 5) % 9, i === 1 || i % 53 === 9 ? 1 : 0);
    rig.board.put({ is: 'agent', at: now, persona: id, reporter: 'session', state: getAgentState(i, now) });
  }
  if (count < 7) return;
  rig.decisions.create(QUESTION);
  const decisions = rig.decisions.list({ persona: null, onlyOpen: true, limit: 100 });
  rig.board.put({ is: 'decisions', at: now, decisions });
}

const QUESTION = parseNewDecision({
  persona: 'dora',
  prompt: 'How shall I merge the parser branch?',
  options: [
    { id: 'both', label: 'Keep both shapes for one release' },
    { id: 'now', label: 'Change the callers now' },
  ],
  fallback: 'both',
});

function createMailFrom(persona: string, id: number, at: number): MailEvent {
  const [from, content] = MAIL[id % MAIL.length] ?? MAIL[0];
  const created = formatIso(at);
  const event_id = toMailEventId(persona, id);
  return {
    ...{ event: 'new', source: 'kijito-inbox', ts: created, id, from, created, persona, content },
    ...{ event_id, wake_class: 'mail' },
  };
}

function getAgentState(i: number, now: number): AgentState {
  const since = now - (i + 2) * 60_000;
  const where = { since, cwd: '/srv/work/hivebar', model: 'opus' };
  if (i % 41 === 6) return { is: 'waiting', why: 'permission', ...where };
  return (
    [{ is: 'working', ...where } as const, { is: 'idle' } as const, { is: 'live' } as const][i % 3] ?? { is: 'idle' }
  );
}

/** The pictures that the guides show. */
const IN_GUIDES: ReadonlySet<string> = new Set([
  'overview-0-desktop-light.png',
  'overview-40-desktop-light.png',
  'overview-1000-phone-dark.png',
]);

/** Writes the pictures that the guides show into `folder`, taken with the Chromium at `executablePath`. */
export async function captureGuideOverviews(folder: string, executablePath: string): Promise<void> {
  await captureOverviewScreenshots(folder, executablePath, COUNTS, (name) => IN_GUIDES.has(name));
}

async function captureOverviewScreenshots(
  folder: string,
  executablePath: string,
  counts: readonly number[],
  isWanted: (name: string) => boolean = () => true,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const count of counts) {
    const views = SIZES.flatMap(({ size, viewport }) =>
      SCHEMES.map((colorScheme) => ({ name: `overview-${count}-${size}-${colorScheme}.png`, colorScheme, viewport })),
    ).filter(({ name }) => isWanted(name));
    if (views.length === 0) continue;
    await using rig = await statusRig();
    fillBoard(rig, count);
    const tray = { url: `http://127.0.0.1:${rig.port}`, token: TOKEN };
    await capturePageScreenshots({ folder, executablePath, tray, views, show: (page) => showOverview(page, tray.url) });
  }
  if (isWanted(STOPPED)) await captureStopped(folder, executablePath);
}

async function showOverview(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/`);
  await page.locator(':is(.card, .inbox-row) [data-slot="from"], .empty').first().waitFor();
}

/** The server is stopped while the page is open. */
async function captureStopped(folder: string, executablePath: string): Promise<void> {
  const rig = await statusRig();
  fillBoard(rig, 7);
  const { url, token } = { url: `http://127.0.0.1:${rig.port}`, token: TOKEN };
  const view = { name: STOPPED, colorScheme: 'light', viewport: SIZES[0].viewport } as const;
  await capturePageScreenshots({
    ...{ folder, executablePath, tray: { url, token }, views: [view], link: 'lost' },
    async show(page) {
      await showOverview(page, url);
      await rig[Symbol.asyncDispose]();
    },
  });
}

if (import.meta.main) {
  const [folder = join(import.meta.dirname, '..', 'dist', 'pictures'), ...counts] = process.argv.slice(2);
  await captureOverviewScreenshots(folder, '/usr/bin/chromium', counts.length > 0 ? counts.map(Number) : COUNTS);
}
