import assert from 'node:assert/strict';
import { appendFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { recorded } from '../kit/brainclaw-server.ts';
import { brainclaw, EXPECTED, type Store } from '../kit/brainclaw-store.ts';
import { browserFor, findAccessibilityFaults, live, measureOverflow, openTab, press } from '../kit/browser.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';

/** The board of a project on the page of the real program, in a real browser, while its store grows. */

const HOSTILE = '<img src=x onerror="window.pwned=1"></p><script>window.pwned=1</script>';
const WAIT = { timeout: 20_000 };
const { observer, inbox } = EXPECTED;

let browser: Browser | null = null;
after(() => browser?.close());

interface ProjectScene extends AsyncDisposable {
  readonly store: Store;
  readonly home: TrayHome;
  readonly tray: TrayProcess;
  readonly board: string;
}

/** A copy of the store, watched by a program of its own. `prepare` comes first. */
async function watched(
  prepare: (store: Store) => void = () => {},
  brainclawSettings: object = {},
  createEnv: (store: Store) => Readonly<Record<string, string>> = () => ({}),
): Promise<ProjectScene> {
  const store = brainclaw();
  prepare(store);
  const home = trayHome({
    primary: { is: 'local' },
    brainclaw: { is: 'on', projects: [store.dir], ...brainclawSettings },
  });
  const dispose = (): void => {
    home[Symbol.dispose]();
    store[Symbol.dispose]();
  };
  try {
    const tray = await home.start(['--no-tray', '--no-notifications'], { ...home.env, ...createEnv(store) });
    const { projects } = await tray.until('the project', ({ projects }) => projects.length === 1);
    return {
      store,
      home,
      tray,
      board: projects[0]?.board ?? '',
      [Symbol.asyncDispose]: async () => {
        await tray[Symbol.asyncDispose]();
        dispose();
      },
    };
  } catch (error) {
    dispose();
    throw error;
  }
}

interface ProjectPage {
  readonly page: Page;
  readonly complaints: string[];
}

async function open(
  t: TestContext,
  { tray }: ProjectScene,
  { token = true, hash = '', ...options }: BrowserContextOptions & { token?: boolean; hash?: string } = {},
): Promise<ProjectPage | null> {
  browser ??= await browserFor(t);
  if (browser === null) return null;
  const context = await browser.newContext({ colorScheme: 'light', ...options });
  t.after(() => context.close());
  const init = `localStorage.getItem('hivebar-token') ?? localStorage.setItem('hivebar-token', '${tray.token}')`;
  if (token) await context.addInitScript(init);
  const complaints: string[] = [];
  const page = await openTab(context, `${tray.url}/${hash}`, complaints);
  await live(page);
  await section(page, 'attention').or(page.locator('.remarks li')).first().waitFor(WAIT);
  return { page, complaints };
}

const section = (page: Page, id: string): Locator => page.locator(`.section[data-section="${id}"]`);
const row = (page: Page, id: string, key: string): Locator => section(page, id).locator(`.row[data-key="${key}"]`);
const readTotal = async (page: Page, id: string): Promise<number> =>
  Number(await section(page, id).locator('.total').textContent());
const opens = (page: Page, id: string): Promise<void> => section(page, id).locator('summary').click();
const isOpen = async (page: Page, id: string): Promise<boolean> =>
  (await section(page, id).getAttribute('open')) !== null;
/** As a person reads it. */
const words = async (at: Locator): Promise<string> => (await at.allInnerTexts()).join('\n');
const breakdown = (page: Page): Promise<string[]> =>
  page.locator('.breakdown > div').evaluateAll((all) => all.map((element) => `${element.textContent}`));

/** A record at the end of the journal; what is torn there stays so. */
const record = (store: Store, seq: number, item: string, payload: object, agent = 'codex'): void => {
  const [item_type = '', item_id = ''] = item.split(':');
  const about = { v: 2, seq, ts: new Date().toISOString(), writer: 'w_80001-0a0b0c', agent, action: 'create' };
  const line = JSON.stringify({ ...about, item_type, item_id, entity_rev: 1, payload: { id: item_id, ...payload } });
  appendFileSync(store.event('seg-00000259.jsonl'), `\n${line}\n`);
};

test('a project is one board with the numbers of the reference: attention first and open, the other sections closed, its agents in it', async (t) => {
  await using scene = await watched();
  const opened = await open(t, scene);
  if (opened === null) return;
  const { page, complaints } = opened;
  const { total, pending_actions, pending_human_candidates, blocked_assignments, stale_runs } =
    observer.attention_required;
  assert.equal(await words(page.locator('.project .count')), `${total}\nfor attention`);
  assert.deepEqual(await breakdown(page), [
    `pending actions${pending_actions}`,
    `candidates${pending_human_candidates}`,
    `blocked assignments${blocked_assignments}`,
    `stalled runs${stale_runs}`,
  ]);
  const { plans, claims, assignments, runs } = observer.counts;
  const counts = `Open: ${plans} plans · ${claims} claims · ${assignments} assignments · ${runs} runs`;
  assert.equal(await page.locator('[data-slot="counts"]').textContent(), counts);
  const ids = await page
    .locator('.section')
    .evaluateAll((all) => all.map((element) => element.getAttribute('data-section')));
  const order = ['attention', 'in-progress', 'recently-terminal', 'sprints', 'backlog', 'candidates', 'activity'];
  assert.deepEqual(ids, [...order, 'actions', 'handoffs', 'traps', 'defects']);
  for (const id of ids) assert.equal(await isOpen(page, id ?? ''), id === 'attention', `${id}`);
  const { byType } = observer;
  for (const [id, count] of [
    ['attention', total],
    ['sprints', byType.sequence],
    ['candidates', byType.candidate],
    ['actions', byType.state],
    ['handoffs', byType.handoff],
    ['traps', byType.trap],
  ] as const) {
    assert.equal(await readTotal(page, id), count, id);
  }
  await section(page, 'attention').getByRole('button', { name: 'Show 12 more' }).click();
  assert.equal(await section(page, 'attention').locator('.row').count(), total);
  assert.match(await words(section(page, 'attention').locator('.row').first()), /Which branch|Approve the plan/);
  assert.match(await words(page.locator('.remarks')), /^\d+ unreadable lines of the journal are skipped/);

  for (const [name, { pending, actionable, skipped }] of Object.entries(inbox)) {
    const agent = page.locator('.agent', { has: page.getByText(name, { exact: true }) });
    const output = await words(agent);
    assert.match(output, new RegExp(`${pending} unread\\s+${actionable} to act on`), name);
    assert.equal(/(\d+) unreadable message files?/.exec(output)?.[1] ?? '0', String(skipped), name);
  }
  assert.equal(await page.locator('.card').count(), 0, 'neither board nor agents are cards beside it');
  await page.locator('.agent').getByRole('link', { name: 'codex' }).click();
  await page.locator('#view h1', { hasText: 'codex' }).waitFor(WAIT);
  assert.equal(await page.locator('#view .project').count(), 0, 'the board is not shown with the inbox of an agent');
  await press(page, 'Escape');
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'codex', 'the focus is where it was');
  assert.deepEqual(complaints, []);
});

test('D2 given more items for attention than one answer holds, the page has them all, the newest of every kind in sight', async (t) => {
  await using scene = await watched((store) => {
    for (let i = 0; i < 130; i += 1) record(store, 1000 + i, `state:act_m${i}`, { status: 'pending', text: `m${i}` });
    record(store, 2000, 'assignment:asg_late', { status: 'blocked', text: 'blocked at last' });
    record(store, 2001, 'agent_run:run_late', { status: 'failed', text: 'failed at last' });
  });
  const opened = await open(t, scene);
  if (opened === null) return;
  const { page, complaints } = opened;
  const attention = section(page, 'attention');
  const total = observer.attention_required.total + 132;
  assert.equal(await readTotal(page, 'attention'), total);
  for (const key of ['state:act_m129', 'assignment:asg_late', 'agent_run:run_late'])
    await row(page, 'attention', key).waitFor(WAIT);
  await attention.getByRole('button', { name: 'Show 92 more' }).click();
  await attention.getByRole('button', { name: `Show more (${total - 100} left)` }).click();
  await attention.getByRole('button', { name: 'Show fewer' }).waitFor(WAIT);
  const keys = await attention
    .locator('.row')
    .evaluateAll((all) => all.map((element) => element.getAttribute('data-key')));
  assert.deepEqual([keys.length, new Set(keys).size], [total, total]);
  assert.ok(keys.includes('state:act_m0'), 'the oldest too');
  assert.deepEqual(complaints, []);
});

test('while the store grows: a new action comes with its text, a handoff goes, and only what changed is touched', async (t) => {
  await using scene = await watched();
  const opened = await open(t, scene);
  if (opened === null) return;
  const { page, complaints } = opened;
  await opens(page, 'handoffs');
  await opens(page, 'sprints');
  await row(page, 'handoffs', 'handoff:hnd_last').waitFor(WAIT);
  const first = await section(page, 'attention').locator('.row').first().elementHandle();
  await page.evaluate(`
    window.touched = new Set();
    new MutationObserver((all) => {
      for (const { target } of all) {
        const at = (target.nodeType === 1 ? target : target.parentElement)?.closest('.section');
        if (at) window.touched.add(at.dataset.section);
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  `);
  const touched = (): Promise<unknown> => page.evaluate('[...touched].sort()');
  const after = (step: number) => EXPECTED.steps[step - 1]?.after;

  scene.store.step(1);
  const counts = page.locator('[data-slot="counts"]', { hasText: `Open: ${after(1)?.counts.plans} plans` });
  await counts.waitFor(WAIT);
  scene.store.step(2);
  const added = row(page, 'attention', 'state:act_c0');
  await added.waitFor(WAIT);
  const [title, text] = [await added.locator('.title').textContent(), await added.locator('.text').textContent()];
  assert.deepEqual([title, text], ['Merge?', 'Merge now? — 지금 병합 🌱']);
  assert.equal(await readTotal(page, 'attention'), after(2)?.attention_required.total);
  assert.equal(await first?.evaluate((element) => element.isConnected), true, 'a row that stays is the same element');
  assert.match((await page.locator('#news').textContent()) ?? '', /for attention: .+, 21/);

  scene.store.step(3);
  await row(page, 'handoffs', 'handoff:hnd_last').waitFor({ state: 'detached', ...WAIT });
  scene.store.step(4);
  await added.waitFor({ state: 'detached', ...WAIT });
  assert.equal(await readTotal(page, 'attention'), after(4)?.attention_required.total);
  assert.equal(await isOpen(page, 'handoffs'), true);
  assert.equal(await isOpen(page, 'sprints'), true);
  const all = (await touched()) as string[];
  for (const id of ['candidates', 'sprints', 'traps', 'recently-terminal', 'defects']) {
    assert.equal(all.includes(id), false, `${id} is as it was, and was not touched: ${all}`);
  }
  assert.ok(all.includes('attention') && all.includes('handoffs'), `${all}`);
  assert.deepEqual(complaints, []);
});

test('what was opened and closed is so after a reload, and rows come when a section is opened by keyboard', async (t) => {
  await using scene = await watched();
  const opened = await open(t, scene);
  if (opened === null) return;
  const { page } = opened;
  assert.equal(await section(page, 'traps').locator('.row').count(), 0);
  await page.locator('.project h2 a').focus();
  await section(page, 'traps').locator('summary').focus();
  await press(page, 'Enter');
  await section(page, 'traps').locator('.row').first().waitFor(WAIT);
  assert.equal(await section(page, 'traps').locator('.row').count(), 2);
  await opens(page, 'attention');
  await page.reload();
  await section(page, 'traps').locator('.row').first().waitFor(WAIT);
  assert.equal(await isOpen(page, 'attention'), false);
  await opens(page, 'traps');
  await page.waitForTimeout(100); // the browser tells of a toggle in a task of its own
  await page.reload();
  await section(page, 'traps').waitFor(WAIT);
  assert.equal(await isOpen(page, 'traps'), false);
});

test('the view of the board has it too, below its actions; in the list it is found by name, and a filter that leaves it out does', async (t) => {
  await using scene = await watched();
  const opened = await open(t, scene, { hash: `#persona=${scene.board}` });
  if (opened === null) return;
  const { page, complaints } = opened;
  await page.locator('#view #board .section').first().waitFor(WAIT);
  assert.equal(await words(page.locator('#view .count').first()), '20\nfor attention');
  assert.equal(await page.locator('#view .project .head').isVisible(), false, 'its name stands above already');
  await opens(page, 'backlog');
  await press(page, 'Escape');
  await page.locator('#boards .project .section').first().waitFor(WAIT);
  assert.equal(await isOpen(page, 'backlog'), true, 'it is the same board');
  await press(page, '/');
  await page.keyboard.type('hermes');
  await page.locator('.card', { hasText: 'hermes' }).waitFor(WAIT);
  assert.equal(await page.locator('.project').count(), 0, 'who looks for an agent finds its card');
  await press(page, 'Escape');
  await page.locator('#boards .project').waitFor(WAIT);
  assert.equal(await page.locator('.card').count(), 0);
  assert.deepEqual(complaints, []);
});

test('without the token there are numbers and no text; with it the rows come', async (t) => {
  await using scene = await watched();
  const opened = await open(t, scene, { token: false });
  if (opened === null) return;
  const { page } = opened;
  assert.equal(await words(page.locator('.project .count')), '20\nfor attention');
  assert.equal(await readTotal(page, 'attention'), 20);
  await opens(page, 'handoffs');
  assert.equal(await page.locator('.row').count(), 0);
  assert.doesNotMatch(await page.content(), /Approve the plan|final handoff|hnd_|cnd_/);
  await page.getByRole('button', { name: 'Enter the token' }).click();
  const given = page.getByLabel('Token: choose');
  await given.fill('not the token');
  await given.press('Enter');
  await page.getByRole('button', { name: 'Enter the token' }).click();
  await given.fill(scene.tray.token);
  await given.press('Enter');
  await section(page, 'attention').locator('.row', { hasText: 'Approve the plan' }).first().waitFor(WAIT);
  await section(page, 'handoffs').locator('.row', { hasText: 'final handoff' }).waitFor(WAIT);
  assert.equal(await page.getByText('Enter the token to see titles').count(), 0);
});

test('a board that cannot be had says why and stays; it is asked for once a change, and again with the next', async (t) => {
  await using scene = await watched();
  const opened = await open(t, scene);
  if (opened === null) return;
  const { page } = opened;
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().includes('/api/brainclaw/')) asked += 1;
  });
  const problem = { error: { code: 'database', message: 'the disk is full', next: 'make room' } };
  await page.route('**/api/brainclaw/**', (route) => route.fulfill({ status: 503, json: problem }));
  scene.store.step(1);
  await page.locator('.note', { hasText: 'Could not be loaded: the disk is full; make room' }).waitFor(WAIT);
  assert.equal(await readTotal(page, 'attention'), 20, 'what was seen stays');
  await scene.home.run(['send', '--to', 'ada', '--from', 'bo', 'hello']);
  await page.locator('.card[data-id="ada"]').waitFor(WAIT);
  assert.ok(asked <= 10, `with a status, not in between: ${asked}`);
  await page.unroute('**/api/brainclaw/**');
  asked = 0;
  scene.store.step(2);
  await row(page, 'attention', 'state:act_c0').waitFor(WAIT);
  assert.equal(await page.locator('.note').isVisible(), false);
  await page.clock.install();
  await page.clock.fastForward(600_000);
  await page.locator('.project [data-slot="fresh"]', { hasText: /1\d min ago/ }).waitFor(WAIT);
  assert.ok(asked <= 2, `asked ${asked} times for one change, and ten minutes without any`);
});

test('a journal that is off is not known, and not nothing; when it comes the board is there, when it is partial it says so', async (t) => {
  await using scene = await watched(({ journal, root }) => renameSync(journal, `${root}/parked`));
  const opened = await open(t, scene);
  if (opened === null) return;
  const { page, complaints } = opened;
  assert.equal(await words(page.locator('.remarks')), 'The journal is off, so open items are unknown.');
  assert.deepEqual(await breakdown(page), ['pending actions–', 'candidates–', 'blocked assignments–', 'stalled runs–']);
  assert.equal(await words(page.locator('.project .count [data-slot="unread"]')), '–');
  assert.equal(await page.locator('.section:visible').count(), 1, 'only what is wrong in the store');
  assert.match(await words(page.locator('.agent', { hasText: 'codex' })), /2 unread\s+3 to act on/);
  renameSync(`${scene.store.root}/parked`, scene.store.journal);
  await section(page, 'attention').locator('.row').first().waitFor(WAIT);
  assert.equal(await words(page.locator('.project .count [data-slot="unread"]')), '20');
  rmSync(scene.store.event('seg-00000001.jsonl'));
  rmSync(scene.store.event('seg-00000122.jsonl'));
  await page.locator('.remarks li', { hasText: 'A checkpoint replaces them' }).waitFor(WAIT);
  await page.locator('.remarks li', { hasText: 'these counts may be too low' }).waitFor(WAIT);
  assert.equal(await readTotal(page, 'attention'), EXPECTED.coldFromCheckpoint.attention_required.total);
  assert.deepEqual(complaints, []);
});

const hostile = (store: Store): void => {
  record(store, 400, 'state:act_x1', {
    status: 'pending',
    agent: HOSTILE,
    title: HOSTILE,
    prompt: `${HOSTILE}{{cards}}`,
  });
  record(store, 401, 'candidate:cnd_x2', { text: 'W'.repeat(60_000), author: 'w'.repeat(300), status: 'pending' });
  record(store, 402, 'agent_run:run_x3', {
    agent: 'a\u001b[31mb',
    status: 'failed',
    title: '\u202egnp.exe\u0007 ٱلعربية',
  });
  record(store, 403, '<b>type</b>:x" onload="1', { title: 'unknown', status: '<i>odd</i>' }, '<u>agent</u>');
};

test('texts of the store are text: markup, control characters, directions and 60,000 letters', async (t) => {
  await using scene = await watched(hostile);
  const opened = await open(t, scene, { viewport: { width: 360, height: 800 } });
  if (opened === null) return;
  const { page, complaints } = opened;
  await section(page, 'attention').getByRole('button', { name: /^Show/ }).click();
  for (const id of ['in-progress', 'candidates', 'activity', 'actions']) await opens(page, id);
  const asks = row(page, 'attention', 'state:act_x1');
  assert.equal(await asks.locator('.title').textContent(), HOSTILE);
  assert.equal(await asks.locator('.text').textContent(), `${HOSTILE}{{cards}}`);
  const long = (await row(page, 'attention', 'candidate:cnd_x2').locator('.title').textContent()) ?? '';
  assert.ok(/^W+…$/.test(long) && long.length < 400, `${long.length}`);
  const run = await words(row(page, 'attention', 'agent_run:run_x3'));
  assert.match(run, /gnp\.exe ٱلعربية/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
  assert.doesNotMatch(await words(page.locator('.project')), /[\u0000-\u0008\u000b-\u001f\u202a-\u202e]/);
  assert.equal(await page.locator('.project :is(img, script, b b, i, u)').count(), 0);
  assert.equal(await page.evaluate('window.pwned'), undefined);
  assert.equal(await measureOverflow(page), 0);
  assert.deepEqual(complaints, []);
});

test('a candidate that is accepted goes when the journal has it, and not before; what is written on another row stays', async (t) => {
  const servers = new Map<Store, ReturnType<typeof recorded>>();
  await using scene = await watched(
    () => {},
    { actions: true },
    (store) => {
      const server = recorded(store, 'none', store.root);
      servers.set(store, server);
      const line = server.command.map((word) => `'${word}'`).join(' ');
      writeFileSync(store.at('brainclaw'), `#!/bin/sh\nexec ${line}\n`, { mode: 0o700 });
      return { PATH: `${store.dir}${delimiter}${process.env.PATH}` };
    },
  );
  const opened = await open(t, scene);
  if (opened === null) return;
  const { page, complaints } = opened;
  const rows = section(page, 'attention').locator('.row');
  const answer = rows.getByRole('textbox').first();
  await answer.fill('half a');
  const accepted = rows.filter({ has: page.getByRole('button', { name: /^Accept/ }) }).first();
  const key = await accepted.getAttribute('data-key');
  await page.route('**/actions/brainclaw', (route) => route.abort());
  await accepted.getByRole('button', { name: /^Accept/ }).click();
  await row(page, 'attention', `${key}`)
    .locator('.said', { hasText: /^Failed: / })
    .waitFor(WAIT);
  await page.unroute('**/actions/brainclaw');
  await answer.focus();
  await press(page, 'End');
  await page.evaluate(`document.querySelector('.row[data-key="${key}"] .deeds button').click()`);
  await row(page, 'attention', `${key}`).waitFor({ state: 'detached', ...WAIT });
  assert.equal(await readTotal(page, 'attention'), 19);
  await page.keyboard.type(' thought');
  assert.equal(await answer.inputValue(), 'half a thought', 'nor is the focus lost');
  const [called] =
    servers
      .get(scene.store)
      ?.list('called')
      .filter(({ params }) => params.name === 'bclaw_transition') ?? [];
  assert.deepEqual(called?.params.arguments, { entity: 'candidate', id: key?.split(':')[1], to: 'accepted' });
  assert.deepEqual(
    complaints.filter((text) => !/ERR_FAILED/.test(text)),
    [],
  );
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`no accessibility fault and nothing too wide, ${colorScheme}, in the list and in the view, with the token and without`, async (t) => {
    await using scene = await watched(hostile, { actions: true });
    for (const token of [true, false]) {
      const opened = await open(t, scene, { token, colorScheme, bypassCSP: true, reducedMotion: 'reduce' });
      if (opened === null) return;
      const { page } = opened;
      await opens(page, 'in-progress');
      for (const hash of token ? ['#personas', `#persona=${scene.board}`] : ['#personas']) {
        await page.evaluate(`location.hash = '${hash}'`);
        await page
          .locator(`${hash === '#personas' ? '#overview' : '#view'} .section`)
          .first()
          .waitFor(WAIT);
        for (const width of token ? [1280, 360] : [360]) {
          await page.setViewportSize({ width, height: 800 });
          assert.equal(await measureOverflow(page), 0, `${token} ${hash} at ${width}`);
          assert.deepEqual(await findAccessibilityFaults(page), [], `${token} ${hash} at ${width}`);
        }
      }
    }
  });
}
