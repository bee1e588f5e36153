import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createDelivered, listTexts, watchPersona } from '../../../test/conformance/watch-source.ts';
import { exactly } from '../../model/index.ts';
import { realClock } from '../../ports/index.ts';
import type { AgentMail } from './answer.ts';
import type { MailServer } from './server.ts';
import { createAmailSource, type SavedAmail } from './source.ts';

const never = new AbortController().signal;
const ADDRESS = 'p/ada';

type Happening =
  | { readonly is: 'mail'; readonly count: number }
  | { readonly is: 'read' | 'rebuild' | 'restart' | 'poll' }
  /** An even number of the newest messages, an odd one of the oldest, so that a rebuild shifts the ids. */
  | { readonly is: 'remove'; readonly newest: number };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ is: fc.constant('mail' as const), count: fc.constantFrom(1, 7, 8, 20, 300) }) },
  { weight: 4, arbitrary: fc.constant({ is: 'poll' as const }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('remove' as const), newest: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom({ is: 'read' as const }, { is: 'rebuild' as const }, { is: 'restart' as const }),
  },
);

/** A server in memory: every seventh message is to ada. */
function createModel() {
  let mail: AgentMail[] = [];
  let lastId = 0;
  let sent = 0;
  const server: MailServer = {
    listMail: async (limit) => {
      const messages = mail.slice(-limit);
      const answer = { messages, projects: [], listsProjects: false, unreadable: 0, isDegraded: false };
      return { answer, limit };
    },
    listProjects: async () => [{ slug: 'p', folder: '/p' }],
    listAgents: async () => ['ada', 'bo'],
    markRead: async () => {},
    isAlive: async () => true,
    reset: () => {},
    [Symbol.asyncDispose]: async () => {},
  };
  return {
    server,
    texts: () => mail.filter(({ readBy }) => readBy.has('ada')).map(({ content }) => content),
    unread: () => mail.filter(({ readBy }) => readBy.get('ada') === false).length,
    apply(event: Happening): void {
      if (event.is === 'mail')
        for (let n = 0; n < event.count; n += 1) {
          lastId += 1;
          sent += 1;
          const to = sent % 7 === 0 ? 'ada' : 'bo';
          const fixed = { project: 'p', sender: 'cy', subject: 's', created: '', isUrgent: false };
          mail.push({ ...fixed, id: lastId, createdAt: sent, content: `${sent}`, readBy: new Map([[to, false]]) });
        }
      if (event.is === 'read')
        mail = mail.map((message) => ({
          ...message,
          readBy: new Map([...message.readBy.keys()].map((name) => [name, true])),
        }));
      if (event.is === 'remove') mail.splice(event.newest % 2 === 0 ? -event.newest : 0, event.newest);
      if (event.is !== 'rebuild') return;
      mail = mail.map((message, at) => ({
        ...{ ...message, id: at + 1 },
        readBy: new Map([...message.readBy.keys()].map((name) => [name, false])),
      }));
      lastId = mail.length;
    },
  };
}

const mail = (count: number): Happening => ({ is: 'mail', count });
const remove = (newest: number): Happening => ({ is: 'remove', newest });
const [poll, rebuild] = [{ is: 'poll' }, { is: 'rebuild' }] as const;

/** What was found once: a rebuild gives the ids of removed messages to new ones. */
const FOUND: readonly Happening[][] = [
  [mail(20), mail(20), poll, remove(4), remove(4), rebuild, mail(8)],
  [mail(300), remove(3), poll, rebuild, remove(4), poll, poll, mail(1), mail(8), rebuild],
];

test('whatever happens to a store, no message is delivered twice, and without a gap none is missed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 5, maxLength: 30, size: 'max' }), async (happenings) => {
      const model = createModel();
      let saved: string | null = null;
      const memory = {
        load: () => (saved === null ? null : (JSON.parse(saved) as SavedAmail)),
        save: (next: SavedAmail) => {
          saved = JSON.stringify(next);
        },
      };
      const delivered = createDelivered();
      const due = new Set<string | null>();
      let source = createAmailSource({ server: model.server, base: 'http://h', clock: realClock, memory });
      const open = async () => {
        await source.personas(never);
        return watchPersona(source, source.named(ADDRESS), realClock, delivered);
      };
      let watched = await open();
      await watched.poll();
      for (const event of [...happenings, { is: 'poll' } as const]) {
        model.apply(event);
        if (event.is === 'restart') {
          source = createAmailSource({ server: model.server, base: 'http://h', clock: realClock, memory });
          watched = await open();
        }
        if (event.is !== 'poll' && event.is !== 'restart' && event.is !== 'rebuild') continue;
        for (const text of model.texts()) due.add(text);
        await watched.poll();
        await watched.poll();
        const { unread } = await source.poll(source.named(ADDRESS), { is: 'unset' }, never);
        if (model.texts().length < 28) assert.deepEqual(unread, exactly(model.unread()));
      }
      const texts = listTexts(delivered);
      assert.equal(new Set(texts).size, texts.length, 'nothing twice');
      const isSkipped = delivered.events.some(
        (event) => event.event === 'replay_capped' || (event.event === 'alert' && event.reason === 'gap'),
      );
      if (!isSkipped) assert.deepEqual(new Set(texts), due);
    }),
    { numRuns: 150, examples: FOUND.map((happenings) => [happenings]) },
  );
});
