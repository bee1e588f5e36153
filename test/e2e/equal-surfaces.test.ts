import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { Page } from 'playwright-core';
import type { StatusWire } from '../../app/status/index.ts';
import { drain, enqueue, upsert } from '../../core/sources/garden/index.ts';
import { browserFor } from '../kit/browser.ts';
import { createConfig, installIn, startDaemon } from '../kit/daemon-board.ts';
import { type Desktop, desktopMissing, type MenuEntry, startDesktop } from '../kit/desktop/index.ts';
import { type FakeHive, fakeHive } from '../kit/fake-hive.ts';
import { type Garden, garden, handAt } from '../kit/garden-store.ts';
import { needs } from '../kit/require.ts';
import { scratch } from '../kit/scratch.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';
import { referenceUpstream, type UpstreamPersona } from '../kit/upstream/index.ts';

/** Two personas of a far hive, one of the local one, a citizen of a garden, the board of a project, and a persona daemon. */
const FAR = ['ada', 'bo'] as const;
const LOCAL = 'cy';
const CITIZEN = '20260614T100037-aaaaaa';
const GARDEN = `garden-${CITIZEN}` as const;
const LABEL = 'pi · river';
const BOARD = 'bc-prj_1';
const FOLDER = 'lab';
const IDENTITY = 'ed';
const DAEMON = `daemon-lab-${IDENTITY}` as const;
const ALL = [...FAR, `local-${LOCAL}`, GARDEN, BOARD, DAEMON] as const;
type Id = (typeof ALL)[number];

const isFar = (id: Id): id is (typeof FAR)[number] => FAR.some((name) => name === id);

type Act =
  | { readonly is: 'arrive' | 'read' | 'mute' | 'unmute' | 'hide' | 'unhide'; readonly persona: Id }
  | { readonly is: 'restart' | 'break' | 'heal' };

const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ is: fc.constant('arrive' as const), persona: fc.constantFrom(...ALL) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      is: fc.constantFrom('read' as const, 'mute' as const, 'unmute' as const, 'hide' as const, 'unhide' as const),
      persona: fc.constantFrom(...ALL),
    }),
  },
  { weight: 2, arbitrary: fc.constantFrom<Act>({ is: 'restart' }, { is: 'break' }, { is: 'heal' }) },
);

/** One persona as some surface shows it. `unread` null: it says that it does not know. */
interface PersonaNumbers {
  readonly unread: number | null;
  readonly isDown: boolean;
}

/** What any surface says: who is there, and the sum. Who is hidden is not there. */
interface SurfaceState {
  readonly personas: Readonly<Record<string, PersonaNumbers>>;
  readonly unread: number | null;
}

/** What is true, kept as simply as it can be. */
class Model {
  readonly #inHive: Record<Id, number> = { ada: 0, bo: 0, 'local-cy': 0, [GARDEN]: 0, [BOARD]: 0, [DAEMON]: 0 };
  /** Null: not looked at since the start. */
  readonly #seen: Record<Id, number | null> = { ada: 0, bo: 0, 'local-cy': 0, [GARDEN]: 0, [BOARD]: 0, [DAEMON]: 0 };
  readonly muted = new Set<Id>();
  readonly hidden = new Set<Id>();
  isBroken = false;

  play(act: Act): void {
    switch (act.is) {
      case 'arrive':
        this.#inHive[act.persona] += 1;
        break;
      case 'read':
        this.#inHive[act.persona] = 0;
        break;
      case 'mute':
        this.muted.add(act.persona);
        break;
      case 'unmute':
        this.muted.delete(act.persona);
        break;
      case 'hide':
        this.hidden.add(act.persona);
        break;
      case 'unhide':
        this.hidden.delete(act.persona);
        break;
      case 'restart':
        for (const id of ALL) this.#seen[id] = null;
        break;
      case 'break':
        this.isBroken = true;
        break;
      case 'heal':
        this.isBroken = false;
    }
    for (const id of ALL) if (!this.#isDown(id)) this.#seen[id] = this.#inHive[id];
  }

  #isDown(id: Id): boolean {
    return this.isBroken && isFar(id);
  }

  surfaceState(): SurfaceState {
    const shown = ALL.filter((id) => !this.hidden.has(id));
    const known = shown.flatMap((id) => this.#seen[id] ?? []);
    return {
      personas: Object.fromEntries(shown.map((id) => [id, { unread: this.#seen[id], isDown: this.#isDown(id) }])),
      unread: shown.length > 0 && known.length === 0 ? null : known.reduce((sum, n) => sum + n, 0),
    };
  }
}

function ofStatus({ personas, totals }: StatusWire): SurfaceState {
  const shown = personas.filter(({ hidden }) => !hidden);
  return {
    personas: Object.fromEntries(shown.map(({ id, unread, state }) => [id, { unread, isDown: state === 'DOWN' }])),
    unread: totals.unread,
  };
}

function ofMetrics(text: string, hidden: ReadonlySet<string>): SurfaceState {
  const value = (name: string, id: string): number | null => {
    const line = new RegExp(`^${name}\\{persona="${id}",[^}]*\\} (\\S+)$`, 'm').exec(text)?.[1];
    return line === undefined ? null : Number(line);
  };
  const sum = /^hivebar_unread (\S+)$/m.exec(text)?.[1];
  const shown = ALL.filter((id) => !hidden.has(id));
  const readShown = (id: Id): PersonaNumbers => ({
    unread: value('hivebar_persona_unread', id),
    isDown: value('hivebar_persona_up', id) === 0,
  });
  return {
    personas: Object.fromEntries(shown.map((id) => [id, readShown(id)])),
    unread: sum === undefined ? null : Number(sum),
  };
}

function ofTable(text: string): SurfaceState {
  const number = (word: string): number | null => (word === '?' ? null : Number.parseInt(word, 10));
  const rows = [...text.matchAll(/^(UP|DOWN|PENDING) +(\S+) {2}(\S.*?)(?: \(([^)]*)\))?(?::.*)?$/gm)];
  return {
    personas: Object.fromEntries(
      rows.map(([, state, unread = '', label = '', id]) => [
        id ?? label,
        { unread: number(unread), isDown: state === 'DOWN' },
      ]),
    ),
    unread: number(
      /^(?:.*, )?(\S+) unread,/.exec(text)?.[1] ??
        (/^.*unread (?:messages known|count unknown)/i.test(text) ? '?' : '0'),
    ),
  };
}

/** By what a row is called: local personas by their bare names, a citizen by backend and folder, a board by its folder, a daemon by identity and project. */
const ID_OF: Readonly<Record<string, Id>> = {
  ...{ ada: 'ada', bo: 'bo', [LOCAL]: `local-${LOCAL}`, [LABEL]: GARDEN, [FOLDER]: BOARD },
  [`${IDENTITY} · lab`]: DAEMON,
};

/** Rows as a person reads them. */
function ofMenu(entries: readonly MenuEntry[]): SurfaceState {
  const number = (text: string): number | null => {
    if (/unread unknown|not seen yet/i.test(text)) return null;
    return Number(/(\d+)\+? unread/.exec(text)?.[1] ?? 0);
  };
  const rows = entries.flatMap(({ label }) => {
    const found = /^(ada|bo|cy|pi · river|lab|ed · lab) - (.*)$/.exec(label);
    return found === null ? [] : [[ID_OF[found[1] ?? ''] ?? '', found[2] ?? ''] as const];
  });
  const isDown = (news: string): boolean => /\bdown\b/i.test(news);
  // A row that is down and says no number: none was ever seen, or none is unread.
  return {
    personas: Object.fromEntries(rows.map(([id, news]) => [id, { unread: number(news), isDown: isDown(news) }])),
    unread: number(entries[0]?.label ?? ''),
  };
}

async function ofPage(page: Page): Promise<SurfaceState> {
  const closed = page.locator('.group button[aria-expanded="false"]');
  while ((await closed.count()) > 0) await closed.first().click(); // a hive that is down
  const cards = await page.locator('.card:visible, .project:visible').evaluateAll((all) =>
    all.map((card) => ({
      id: card.getAttribute('data-id') ?? '',
      unread: card.querySelector('[data-slot="unread"]')?.textContent ?? '',
      shape: card.getAttribute('data-look') ?? '',
    })),
  );
  const number = (text: string): number | null => (/^\d/.test(text) ? Number.parseInt(text, 10) : null);
  const headline = (await page.locator('h1').textContent()) ?? '';
  const total = /not known|first time/.test(headline) ? '' : (/(\d+)\+?\u00a0unread/.exec(headline)?.[1] ?? '0');
  return {
    personas: Object.fromEntries(
      cards.map(({ id, unread, shape }) => [id, { unread: number(unread), isDown: shape === 'down' }]),
    ),
    unread: number(total),
  };
}

/** The last status that the stream brought. */
class Listening {
  #last: StatusWire | null = null;
  readonly #stop = new AbortController();

  async begin(url: string): Promise<void> {
    const answer = await fetch(`${url}/api/v1/stream`, { signal: this.#stop.signal });
    const text = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    void (async () => {
      for (let rest = ''; ; ) {
        const read = await text?.read().catch(() => undefined); // the process ended
        if (read?.value === undefined) return;
        const parts = (rest + read.value).split('\n\n');
        rest = parts.pop() ?? '';
        for (const part of parts) {
          const data = /^event: status\ndata: (.*)$/.exec(part)?.[1];
          if (data !== undefined) this.#last = JSON.parse(data) as StatusWire;
        }
      }
    })();
  }

  surfaceState(): SurfaceState | null {
    return this.#last === null ? null : ofStatus(this.#last);
  }

  end(): void {
    this.#stop.abort();
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A menu says less where an inbox was never seen: a row that is down has no number then. */
function asMenu({ personas, unread }: SurfaceState): SurfaceState {
  const toMenuShown = ({ unread: n, isDown }: PersonaNumbers): PersonaNumbers => ({
    unread: isDown ? (n ?? 0) : n,
    isDown,
  });
  return {
    personas: Object.fromEntries(Object.entries(personas).map(([id, persona]) => [id, toMenuShown(persona)])),
    unread,
  };
}

const sorted = ({ personas, unread }: SurfaceState): SurfaceState => ({
  personas: Object.fromEntries(Object.entries(personas).sort(([a], [b]) => (a < b ? -1 : 1))),
  unread,
});

/** A project that asks for a person as often as it is told to. */
interface AskingProject {
  ask(): void;
  /** Nothing is asked any more. */
  waitUntilQuiet(): void;
}

function askingProject(folder: string): AskingProject {
  const events = join(folder, '.brainclaw', 'events');
  mkdirSync(events, { recursive: true });
  writeFileSync(join(folder, '.brainclaw', 'config.yaml'), 'project_id: prj_1\n');
  const open: string[] = [];
  let seq = 0;
  const write = (fields: object): void => {
    seq += 1;
    const record = { v: 2, seq, ts: '2026-06-14T01:00:37.000Z', writer: 'w_7-abcdef', agent: 'pi', ...fields };
    appendFileSync(join(events, 'seg-00000001.jsonl'), `\n${JSON.stringify(record)}\n`);
  };
  write({ action: 'journal_note', item_type: 'journal', payload: { kind: 'registry_genesis' } });
  return {
    ask() {
      const item = { item_type: 'candidate', item_id: `cnd_${seq}` };
      open.push(item.item_id);
      write({
        action: 'create',
        ...item,
        entity_rev: 1,
        payload: { type: 'trap', text: 'keep it?', status: 'pending' },
      });
    },
    waitUntilQuiet() {
      for (const item_id of open.splice(0)) write({ action: 'delete', item_type: 'candidate', item_id, entity_rev: 2 });
    },
  };
}

interface Rig {
  readonly desktop: Desktop;
  readonly page: Page;
  readonly home: TrayHome;
  readonly hive: FakeHive;
  readonly store: Garden;
  readonly project: AskingProject;
  /** What the daemon hears of. */
  readonly signals: Pick<UpstreamPersona, 'signals' | 'drain'>;
  readonly start: () => Promise<TrayProcess>;
}

/** One history from its first mail to its end. */
async function live(rig: Rig, history: readonly Act[]): Promise<void> {
  const { desktop, page, home, start } = rig;
  let tray = await start();
  let listening = new Listening();
  try {
    await listening.begin(tray.url);
    await page.goto(`${tray.url}/`);
    const model = new Model();
    for (const [n, act] of [null, ...history].entries()) {
      if (act !== null) {
        if (act.is === 'restart') {
          listening.end();
          await tray.stop();
          tray = await start();
          listening = new Listening();
          await listening.begin(tray.url);
        } else {
          await carryOut(act, tray, rig);
        }
        model.play(act);
      }
      const fields = history
        .slice(0, n)
        .map((event) => ('persona' in event ? `${event.is} ${event.persona}` : event.is));
      await allEqual(fields.join(', '), model);
    }
  } finally {
    listening.end();
    await tray[Symbol.asyncDispose]();
  }

  async function allEqual(history: string, model: Model): Promise<void> {
    const wanted = sorted(model.surfaceState());
    const surfaces: Readonly<Record<string, () => Promise<SurfaceState | null>>> = {
      json: async () => ofStatus(await tray.status()),
      stream: async () => listening.surfaceState(),
      metrics: async () => ofMetrics(await (await fetch(`${tray.url}/metrics`)).text(), model.hidden),
      page: () => ofPage(page),
      tray: async () => ofMenu(await desktop.tray.of(tray.pid).menu()),
      cli: async () => ofStatus(JSON.parse(await run(home, ['status', '--json'])) as StatusWire),
      table: async () => ofTable(await run(home, ['status'])),
    };
    for (const [name, shape] of Object.entries(surfaces)) {
      const due = name === 'tray' ? sorted(asMenu(wanted)) : wanted;
      let seen: unknown = null;
      for (const end = performance.now() + 15_000; ; await sleep(50)) {
        const surfaceState = await shape().catch((error: unknown) => ({ error: String(error) }));
        seen = surfaceState !== null && 'personas' in surfaceState ? sorted(surfaceState) : surfaceState;
        if (JSON.stringify(seen) === JSON.stringify(due) || performance.now() > end) break;
      }
      assert.deepEqual(seen, due, `${name}, after: ${history}`);
    }
    const { personas } = await tray.status();
    assert.deepEqual(
      personas.filter(({ muted }) => muted !== null).map(({ id }) => id),
      [...model.muted].sort(),
      `who is muted, after: ${history}`,
    );
  }
}

async function run(home: TrayHome, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await home.run(args);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}

async function carryOut(act: Act, tray: TrayProcess, { home, hive, store, project, signals }: Rig) {
  switch (act.is) {
    case 'arrive':
      if (act.persona === BOARD) project.ask();
      else if (act.persona === DAEMON) signals.signals(1);
      else if (act.persona === GARDEN)
        enqueue(handAt({ now: new Date().toISOString() }), store.places, CITIZEN, 'hello\n');
      else if (isFar(act.persona)) hive.deliver(act.persona);
      else await run(home, ['send', '--to', LOCAL, '--from', 'me', 'hello']);
      return;
    case 'read':
      if (act.persona === BOARD) project.waitUntilQuiet();
      else if (act.persona === DAEMON) signals.drain();
      else if (act.persona === GARDEN) await drain(handAt(), store.places, CITIZEN, new AbortController().signal);
      else if (isFar(act.persona)) hive.markRead(act.persona);
      else await tray.post('/api/v1/actions/read', { persona: act.persona });
      return;
    case 'break':
      return await hive.refuse();
    case 'heal':
      return await hive.heal();
    case 'restart':
      return;
    default:
      await tray.post(`/api/v1/actions/${act.is}`, { persona: act.persona });
  }
}

test('tray, page, JSON, stream, metrics and command line are equal at every quiet point of any history', {
  timeout: 240_000,
}, async (t) => {
  if (needs(t, desktopMissing())) return;
  const browser = await browserFor(t);
  if (browser === null) return;
  await using stack = new AsyncDisposableStack();
  stack.defer(() => browser.close());
  const desktop = stack.use(await startDesktop({ notify: 'none' }));
  const { DBUS_SESSION_BUS_ADDRESS = '' } = desktop.env;
  await fc.assert(
    fc.asyncProperty(fc.array(acts, { minLength: 6, maxLength: 12 }), async (history) => {
      await using hive = await fakeHive({ personas: FAR });
      using store = garden();
      const hand = handAt({ now: '2026-06-14T01:00:37.000Z', hex: ['aaaaaa'] });
      upsert(hand, store.places, { backend: 'pi', nativeSessionId: 'n', cwd: '/fields/river' });
      using place = scratch();
      const project = askingProject(place.at(FOLDER));
      const settings = {
        primary: { is: 'kijito', base: hive.url },
        brainclaw: { is: 'on', projects: [place.at(FOLDER)] },
        garden: { is: 'auto', store: store.store },
        ...{ pollSeconds: 1, alertAfter: 1, holdSeconds: 1 },
      };
      using home = trayHome(settings);
      await using upstream = await referenceUpstream();
      const [tokens] = installIn(home, createConfig(IDENTITY, { upstream: upstream.url }));
      const signals = upstream.persona('lab', IDENTITY, tokens);
      await using daemon = await startDaemon(home, IDENTITY);
      await daemon.connected();
      await run(home, ['send', '--to', LOCAL, '--from', 'me', 'first']);
      await run(home, ['inbox', 'read', LOCAL]);
      const port = String(await freePort());
      const page = await browser.newPage();
      try {
        const start = () => home.start(['--port', port, '--no-notifications'], { DBUS_SESSION_BUS_ADDRESS });
        await live({ desktop, page, home, hive, store, project, signals, start }, history);
      } finally {
        await page.close();
      }
    }),
    { numRuns: 3, endOnFailure: true },
  );
});
