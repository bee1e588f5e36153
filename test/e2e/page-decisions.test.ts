import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { createActions } from '../../app/actions/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { browserFor, findAccessibilityFaults, live, measureOverflow, openTab, press } from '../kit/browser.ts';
import { asks, formatOutcome, says } from '../kit/decisions.ts';
import { type StatusRig, statusRig, TOKEN } from '../kit/status-rig.ts';
import { until } from '../kit/until.ts';

/** A person answers agents on the page: real decisions behind a real server, in a real browser. */

const HOSTILE = '<img src=x onerror="window.pwned=1"></p><script>window.pwned=1</script>';
const WAIT = { timeout: 10_000 };

let browser: Browser | null = null;
after(() => browser?.close());

type House = Parameters<typeof createActions>[0];

interface Asking extends AsyncDisposable {
  readonly rig: StatusRig;
  /** Every answer that came to the decisions. */
  readonly replies: Parameters<House['decide']>[];
  /** Asks; the answer's id. */
  ask(over?: Parameters<typeof asks>[0]): number;
  /** Tells the board what is open, as the program does after every change. */
  tell(): void;
}

async function asking(): Promise<Asking> {
  const replies: Asking['replies'] = [];
  let rig: StatusRig | null = null;
  const decide: House['decide'] = (...reply) => {
    replies.push(reply);
    return rig?.decisions.respond(...reply) ?? { is: 'none' };
  };
  const server = await statusRig({ actions: createActions({ decide } as House, realClock) });
  rig = server;
  for (const name of ['ada', 'bo', 'cy']) {
    server.join(name);
    server.poll(name, 0);
  }
  const tell = (): void => {
    const decisions = server.decisions.list({ persona: null, onlyOpen: true, limit: 100 }).toReversed();
    server.board.put({ is: 'decisions', at: Date.now(), decisions });
  };
  return {
    rig: server,
    replies,
    ask(over) {
      const { id } = server.decisions.create(asks(over));
      tell();
      return id;
    },
    tell,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

interface DecisionPage {
  readonly page: Page;
  readonly complaints: string[];
}

/** `token`: the browser has it already. */
async function open(
  t: TestContext,
  { rig }: Asking,
  token = true,
  options: BrowserContextOptions = {},
): Promise<DecisionPage | null> {
  browser ??= await browserFor(t);
  if (browser === null) return null;
  const context = await browser.newContext({ colorScheme: 'light', ...options });
  t.after(() => context.close());
  if (token) await context.addInitScript(`localStorage.setItem('hivebar-token', '${TOKEN}')`);
  const complaints: string[] = [];
  const page = await openTab(context, rig.server.urls[0] ?? '', complaints);
  if (options.javaScriptEnabled !== false) await live(page);
  return { page, complaints };
}

const articles = (page: Page): Locator => page.locator('#decisions .decision:visible');
const article = (page: Page, prompt: string): Locator => page.locator('.decision', { hasText: prompt });
const output = (page: Page, prompt: string, text: string | RegExp): Promise<void> =>
  article(page, prompt).locator('.said', { hasText: text }).waitFor(WAIT);
const outcome = ({ rig }: Asking, id: number): string => {
  const decision = rig.decisions.get(id);
  return decision === null ? 'none' : formatOutcome(decision);
};

test('where nothing is asked there is no section; a decision brings it with who asks, how urgent, since when, until when', async (t) => {
  await using asked = await asking();
  const opened = await open(t, asked);
  if (opened === null) return;
  const { page, complaints } = opened;
  const section = page.getByRole('heading', { name: 'Decisions' });
  assert.equal(await section.isVisible(), false);
  assert.equal(await page.title(), 'Hivebar');
  asked.ask({ urgency: 'high', blocking: true });
  asked.ask({ persona: 'nobody-watched', prompt: 'And this?', forMs: null });
  await article(page, 'And this?').waitFor(WAIT);
  const facts = await page.locator('.decision .facts').allInnerTexts();
  assert.match(facts[0] ?? '', /^Urgent\s+Agent waits\s+(just now|\d s ago)\s+(23 h|1 d) left$/);
  assert.match(facts[1] ?? '', /^(just now|\d s ago)$/);
  assert.deepEqual(await articles(page).locator('h3').allInnerTexts(), ['ada asks', 'nobody-watched asks']);
  assert.equal(await page.getByRole('link', { name: 'nobody-watched' }).count(), 0, 'it has no view');
  assert.equal(await page.title(), '2 questions for you, Hivebar');
  assert.equal(await page.locator('h1').textContent(), '2\u00a0questions for you');
  assert.match((await page.locator('#news').textContent()) ?? '', /asking you: /);
  await articles(page).first().getByRole('link', { name: 'ada' }).click();
  assert.equal(new URL(page.url()).hash, '#persona=ada');
  await page.locator('#view .decision', { hasText: 'Which way?' }).waitFor(WAIT);
  assert.equal(await articles(page).count(), 1, 'in the view of an inbox stands what it asks itself');
  await press(page, 'Escape');
  await page.locator('#overview .decision', { hasText: 'And this?' }).waitFor(WAIT);
  assert.deepEqual(complaints, []);
});

test('by mouse: a click on an option answers once, says so, and what is over leaves', async (t) => {
  await using asked = await asking();
  const id = asked.ask();
  const opened = await open(t, asked);
  if (opened === null) return;
  const { page, complaints } = opened;
  await page.clock.install();
  const button = page.getByRole('button', { name: 'the short way' });
  await page.route('**/actions/decide', async (route) => {
    await button.and(page.locator(':disabled')).click({ force: true, ...WAIT }); // the second, while the first goes
    await route.continue();
  });
  await button.click();
  await output(page, 'Which way?', /^Answered by operator: the short way$/);
  assert.equal(outcome(asked, id), 'resolved b');
  assert.deepEqual(asked.replies, [[id, says({ select: 'b' })]], 'two clicks are one answer');
  assert.equal(await article(page, 'Which way?').getByRole('button').count(), 0, 'and no more is asked');
  asked.rig.poll('bo', 1);
  await page.locator('.card[data-id="bo"] [data-slot="unread"]', { hasText: /^1$/ }).waitFor(WAIT);
  assert.equal(await page.locator('.decision .facts').isVisible(), false, 'also while the board does not know it yet');
  asked.tell();
  await page.locator('h1', { hasText: 'question' }).waitFor({ state: 'detached', ...WAIT });
  assert.equal(await articles(page).count(), 1, 'it can still be read');
  await page.locator('h1').hover();
  await page.locator('#search').focus();
  await page.clock.fastForward(20_000);
  await page.locator('.decision').waitFor({ state: 'detached', ...WAIT });
  assert.deepEqual(complaints, []);
});

test('by keyboard: an option by Enter, words by Control and Enter; the focus stays with the question', async (t) => {
  await using asked = await asking();
  const first = asked.ask({ prompt: 'First?', fallback: 'a' });
  const second = asked.ask({ prompt: 'Second?', freeText: true, options: [] });
  const opened = await open(t, asked);
  if (opened === null) return;
  const { page } = opened;
  await article(page, 'Second?').getByRole('textbox').waitFor(WAIT);
  const focused = (): Promise<unknown> => page.evaluate('document.activeElement.innerText');
  await article(page, 'First?').getByRole('link').focus();
  await press(page, 'Tab');
  assert.match(String(await focused()), /^1\s*the long way chosen by itself in (23 h|1 d)$/);
  await press(page, 'Tab');
  assert.match(String(await focused()), /^2\s*the short way$/);
  await press(page, 'Enter');
  await output(page, 'First?', /: the short way$/);
  assert.equal(outcome(asked, first), 'resolved b');
  assert.equal(await focused(), 'ada asks', 'not lost with the button');
  for (let i = 0; i < 3; i += 1) await press(page, 'Tab'); // its link, the next one's link, the text
  assert.equal(await page.evaluate('document.activeElement.tagName'), 'TEXTAREA');
  await press(page, 'Control+Enter');
  await output(page, 'Second?', 'Write an answer first.');
  await page.keyboard.type('jk/ and so on');
  await press(page, 'Enter');
  await page.keyboard.type('in two lines');
  await press(page, 'Control+Enter');
  await output(page, 'Second?', 'Answered by operator: jk/ and so on\nin two lines');
  assert.equal(outcome(asked, second), 'resolved "jk/ and so on\\nin two lines"');
});

test('by keyboard: a digit chooses in the question that has the focus, a goes to its note, Control and Enter sends it alone', async (t) => {
  await using asked = await asking();
  const first = asked.ask({ prompt: 'First?' });
  const second = asked.ask({ prompt: 'Second?' });
  const third = asked.ask({ prompt: 'Third?', options: [], freeText: true });
  const opened = await open(t, asked);
  if (opened === null) return;
  const { page } = opened;
  await article(page, 'Third?').getByRole('textbox').waitFor(WAIT);
  await page.locator('h1').click();
  await press(page, '1');
  await article(page, 'Second?').getByRole('link').focus();
  await press(page, '9');
  await press(page, 'a');
  await page.keyboard.type('2 pieces, a lot');
  await page.keyboard.press('Shift+Tab');
  await press(page, '2');
  await output(page, 'Second?', 'Answered by operator: the short way\nNote: 2 pieces, a lot');
  await press(page, '1');
  await article(page, 'Third?').getByRole('link').focus();
  await press(page, '1');
  await press(page, 'a');
  await page.keyboard.type('call it Bee');
  await press(page, 'Control+Enter');
  await output(page, 'Third?', 'Answered by operator: call it Bee');
  assert.deepEqual(
    asked.replies,
    [
      [second, says({ select: 'b', text: '2 pieces, a lot' })],
      [third, says({ text: 'call it Bee' })],
    ],
    'a digit elsewhere, beyond the options, in the note or after the answer chooses nothing',
  );
  assert.equal(outcome(asked, first), 'open');
});

test('text alone asks again with what was said; the last time it closes; with an option it goes along', async (t) => {
  await using asked = await asking();
  const first = asked.ask({ mostIterations: 2 });
  const opened = await open(t, asked);
  if (opened === null) return;
  const { page } = opened;
  await page.getByLabel('Note to your choice').fill('a third way');
  await page.getByRole('button', { name: 'Ask again with this note' }).click();
  await output(page, 'Which way?', 'operator had it asked again: a third way');
  asked.tell();
  const again = page.locator('.decision', { hasText: 'Asked again (2 of 2) after this note: a third way' });
  await again.waitFor(WAIT);
  assert.equal(outcome(asked, first), 'resolved "a third way"');
  assert.equal(await page.getByRole('button', { name: 'Dismiss' }).count(), 0, 'what was sent is not kept');
  await again.getByLabel('Note to your choice').fill('leave it');
  await again.getByRole('button', { name: 'Close with this note' }).click();
  await page.locator('.said', { hasText: /^Answered by operator: leave it$/ }).waitFor(WAIT);
  assert.equal(outcome(asked, first + 1), 'resolved "leave it"');
  const third = asked.ask({ prompt: 'Third?' });
  await article(page, 'Third?').getByRole('textbox').fill('but slowly');
  await article(page, 'Third?').getByRole('button', { name: 'the long way' }).click();
  await output(page, 'Third?', 'Answered by operator: the long way\nNote: but slowly');
  assert.deepEqual(asked.replies.at(-1), [third, says({ select: 'a', text: 'but slowly' })]);
});

test('two pages at once: who is slower is told what holds, and keeps what was written', async (t) => {
  await using asked = await asking();
  const id = asked.ask();
  asked.ask({ prompt: 'Other?' });
  const first = await open(t, asked);
  const second = await open(t, asked);
  await second?.page.clock.install();
  const third = await open(t, asked);
  if (first === null || second === null || third === null) return;
  await article(second.page, 'Which way?').getByRole('textbox').fill('I was just saying');
  await article(third.page, 'Which way?').getByRole('button', { name: 'the long way' }).waitFor(WAIT);
  await article(first.page, 'Which way?').getByRole('button', { name: 'the short way' }).click();
  await output(first.page, 'Which way?', /^Answered/);
  // nothing tells the others yet: the third clicks
  await article(third.page, 'Which way?').getByRole('button', { name: 'the long way' }).click();
  await output(third.page, 'Which way?', 'Too late. Answered by operator: the short way');
  assert.equal(outcome(asked, id), 'resolved b');
  asked.tell();
  await output(second.page, 'Which way?', /^Answered by operator: the short way$/);
  const saved = second.page.getByLabel('Not sent');
  assert.equal(await saved.inputValue(), 'I was just saying');
  assert.equal(await saved.isEditable(), false);
  await second.page.locator('#search').focus();
  await second.page.clock.fastForward(20_000);
  asked.rig.poll('bo', 1);
  await second.page.locator('.card[data-id="bo"] [data-slot="unread"]', { hasText: /^1$/ }).waitFor(WAIT);
  assert.equal(await saved.isVisible(), true, 'also when what is over would leave');
  await second.page.getByRole('button', { name: 'Dismiss' }).click();
  await article(second.page, 'Which way?').waitFor({ state: 'detached', ...WAIT });
  assert.equal(await articles(second.page).count(), 1, 'the other one is untouched');
  assert.equal(await second.page.evaluate('document.activeElement.innerText'), 'ada asks', 'the focus went on to it');
});

test('focus, half-written text, an open context and the element itself survive every new status', async (t) => {
  await using asked = await asking();
  asked.ask({ prompt: 'First?' });
  asked.ask({ prompt: 'Mine?', context: 'long '.repeat(200) });
  const opened = await open(t, asked);
  if (opened === null) return;
  const { page } = opened;
  const mine = article(page, 'Mine?');
  await mine.getByText('Context').click();
  await mine.getByRole('textbox').pressSequentially('half a ');
  const node = await mine.elementHandle();
  for (let i = 1; i <= 3; i += 1) {
    asked.ask({ prompt: `More ${i}?`, urgency: 'high' });
    asked.rig.poll('bo', i);
    await article(page, `More ${i}?`).waitFor(WAIT);
  }
  asked.rig.decisions.cancel(1, 'ada', null);
  asked.tell();
  await output(page, 'First?', 'Cancelled by ada.');
  await page.keyboard.type('thought');
  assert.equal(await mine.getByRole('textbox').inputValue(), 'half a thought');
  assert.equal(await mine.locator('details').getAttribute('open'), '');
  assert.equal(await node?.evaluate((element) => element.isConnected), true);
  await page.evaluate("location.hash = '#persona=ada'");
  await page.locator('#view .decision', { hasText: 'Mine?' }).waitFor(WAIT);
  await page.evaluate("location.hash = '#personas'");
  await page.locator('#overview .decision', { hasText: 'Mine?' }).waitFor(WAIT);
  assert.equal(await mine.getByRole('textbox').inputValue(), 'half a thought', 'also on the way to a view and back');
});

test('without the token only who asks is told; the words come when it is given, and a bad one asks for it again', async (t) => {
  await using asked = await asking();
  asked.ask({ prompt: 'SECRET-PROMPT', context: 'SECRET-CONTEXT', options: [{ id: 'a', label: 'SECRET-OPTION' }] });
  asked.ask({ persona: 'nobody-watched' });
  const off = await open(t, asked, false, { javaScriptEnabled: false });
  const opened = await open(t, asked, false);
  if (opened === null || off === null) return;
  for (const { page } of [off, opened]) {
    assert.match((await articles(page).allInnerTexts())[0] ?? '', /^ada asks\s+(just now|\d s ago)\s+23 h left$/);
    assert.match(
      (await page.locator('#decisions-words').allInnerTexts()).join(),
      /^Enter the token to see and answer questions\./,
    );
    assert.doesNotMatch(await page.content(), /SECRET/);
  }
  const links = await off.page.locator('.decision a').evaluateAll((all) => all.map((a) => a.getAttribute('href')));
  assert.deepEqual(links, ['#persona=ada', null], 'who is not watched has no card to lead to');
  const { page } = opened;
  await page.getByRole('button', { name: 'Enter the token' }).click();
  const given = page.getByLabel('Token: choose');
  await given.fill('another');
  await given.press('Enter');
  await page.getByRole('button', { name: 'Enter the token' }).click();
  await live(page);
  await given.fill(TOKEN);
  await given.press('Enter');
  await page.getByRole('button', { name: 'SECRET-OPTION' }).waitFor({ timeout: 10_000 });
  assert.equal(await page.locator('#decisions-words').isVisible(), false);
  // the program was started anew: the token is another, and nothing that was written is lost
  const first = page.getByRole('textbox', { name: 'Note' }).first();
  await first.fill('kept');
  await page.evaluate("localStorage.setItem('hivebar-token', 'of yesterday')");
  await page.getByRole('button', { name: 'SECRET-OPTION' }).click();
  await output(page, 'SECRET-PROMPT', 'Enter the token to answer.');
  await given.fill(TOKEN);
  await given.press('Enter');
  assert.equal(await first.inputValue(), 'kept');
  await page.getByRole('button', { name: 'SECRET-OPTION' }).click();
  await output(page, 'SECRET-PROMPT', 'Answered by operator: SECRET-OPTION\nNote: kept');
});

test('an answer that fails says why, keeps the text and the focus, and can be given again', async (t) => {
  await using asked = await asking();
  const id = asked.ask();
  const opened = await open(t, asked);
  if (opened === null) return;
  const { page } = opened;
  await page.getByRole('textbox').last().fill('with care');
  const refusal = { error: { code: 'database', message: 'the disk is full', next: 'make room' } };
  await page.route('**/actions/decide', (route) => route.fulfill({ status: 503, json: refusal }));
  const button = page.getByRole('button', { name: 'the long way' });
  await button.focus();
  await press(page, 'Enter');
  await output(page, 'Which way?', 'Failed: the disk is full; make room');
  assert.match(String(await page.evaluate('document.activeElement.innerText')), /the long way$/);
  await page.unroute('**/actions/decide');
  await page.route('**/actions/decide', (route) => route.abort());
  await press(page, 'Enter');
  await output(page, 'Which way?', /^No reply \(.+\)\. Your answer may have arrived/);
  await page.unroute('**/actions/decide');
  await button.click();
  await output(page, 'Which way?', 'the long way\nNote: with care');
  assert.equal(outcome(asked, id), 'resolved a');
});

test('texts of others are text: markup, control characters and directions, in every field and at most so much', async (t) => {
  await using asked = await asking();
  const options = [
    { id: 'a', label: HOSTILE },
    { id: 'b', label: '\u202egnp.exe \u2066 ٱلعربية' },
    { id: 'c', label: 'W'.repeat(300) },
  ];
  const hostile = { persona: 'ada', prompt: `${HOSTILE}\n{{decisions}}`, context: `${HOSTILE}\n${'x'.repeat(7000)}` };
  asked.ask({ ...hostile, options });
  asked.ask({ persona: HOSTILE, prompt: 'W'.repeat(2000), freeText: true, options: [] });
  const opened = await open(t, asked);
  if (opened === null) return;
  const { page, complaints } = opened;
  await page.getByRole('button', { name: HOSTILE }).waitFor(WAIT);
  assert.equal(await page.locator('.prompt').first().textContent(), `${HOSTILE}\n{{decisions}}`);
  assert.ok((await page.locator('.decision h3').allTextContents()).includes(`${HOSTILE} asks`));
  await page.getByRole('textbox', { name: 'Note' }).fill(HOSTILE);
  await page.getByRole('button', { name: 'Ask again' }).click();
  const guidance = page.locator('.before', { hasText: HOSTILE });
  await until('the guidance is shown', async () => {
    asked.tell(); // the answer is on its way, and may come behind this
    return await guidance.isVisible();
  });
  asked.rig.decisions.respond(2, says({ text: HOSTILE, by: '<b>mia</b>' }));
  asked.tell();
  await page.locator('.said', { hasText: `Answered by <b>mia</b>: ${HOSTILE}` }).waitFor(WAIT);
  assert.equal(await page.locator('#decisions :is(img, script, b)').count(), 0);
  assert.equal(await page.evaluate('window.pwned'), undefined);
  assert.deepEqual(complaints, []);
});

test('fifty at once: oldest first, six and those that press in sight, the others one press away', async (t) => {
  await using asked = await asking();
  for (let i = 1; i <= 50; i += 1) {
    const pressing = { urgency: i === 40 ? 'high' : 'normal', blocking: i === 41 };
    const persona = i % 2 === 0 ? 'ada' : 'bo';
    asked.rig.decisions.create(asks({ persona, prompt: `Question ${i}?`, ...pressing }));
  }
  asked.tell();
  const opened = await open(t, asked);
  if (opened === null) return;
  const { page, complaints } = opened;
  await page.locator('.prompt', { hasText: 'Question 40?' }).waitFor(WAIT);
  const prompts = async (): Promise<string> =>
    (await page.locator('.prompt:visible').allTextContents()).map((text) => /\d+/.exec(text)?.[0]).join(' ');
  assert.equal(await prompts(), '1 2 3 4 5 6 40 41');
  await article(page, 'Question 1?').getByRole('button', { name: 'the long way' }).click();
  await page.locator('.said', { hasText: 'Answered' }).waitFor(WAIT);
  asked.tell();
  await page.getByRole('button', { name: 'Show 42 more' }).click();
  assert.equal(await articles(page).count(), 50);
  await page.locator('h1', { hasText: '49 questions for you' }).waitFor(WAIT);
  assert.deepEqual(complaints, []);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`no accessibility fault and nothing too wide, ${colorScheme}, with the token and without, asked and over`, async (t) => {
    await using asked = await asking();
    asked.ask({ urgency: 'high', blocking: true, context: 'word '.repeat(200), fallback: 'a' });
    asked.ask({
      prompt: 'W'.repeat(2000),
      freeText: true,
      context: 'short',
      options: [{ id: 'w', label: 'W'.repeat(300) }],
    });
    for (const token of [true, false]) {
      const opened = await open(t, asked, token, { colorScheme, bypassCSP: true, reducedMotion: 'reduce' });
      if (opened === null) return;
      const { page } = opened;
      if (token) await page.getByRole('textbox', { name: 'answer' }).waitFor(WAIT);
      for (const hash of ['', '#persona=ada']) {
        await page.evaluate(`location.hash = '${hash}'`);
        await page
          .locator(hash === '' ? '#overview .decision' : '#view .decision')
          .first()
          .waitFor(WAIT);
        for (const width of [1280, 320]) {
          await page.setViewportSize({ width, height: 800 });
          assert.equal(await measureOverflow(page), 0, `${token} ${hash} at ${width}`);
          assert.deepEqual(await findAccessibilityFaults(page), [], `${token} ${hash} at ${width}`);
        }
      }
      if (!token) continue;
      const id = asked.ask({ prompt: 'Over?' });
      await article(page, 'Over?').getByRole('textbox').fill('unsent');
      asked.rig.decisions.respond(id, says({ select: 'a', by: 'mia' }));
      asked.tell();
      await output(page, 'Over?', 'Answered by mia: the long way');
      assert.deepEqual(await findAccessibilityFaults(page), [], 'over');
    }
  });
}
