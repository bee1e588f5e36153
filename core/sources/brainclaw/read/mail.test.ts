import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { brainclaw, EXPECTED, readOnlyFiles, type Store } from '../../../../test/kit/brainclaw-store.ts';
import { type AgentMailReader, createAgentMailReader, parseAgentMessage } from './mail.ts';

const whole = (text: string): string => text;
const inboxes = (store: Store): string => join(store.root, 'coordination', 'inbox');
const open = (store: Store): AgentMailReader & { opened: readonly string[] } => {
  const { files, opened } = readOnlyFiles();
  return { ...createAgentMailReader(files, inboxes(store), whole), opened };
};
const counts = (mail: AgentMailReader): unknown =>
  Object.fromEntries(
    [...(mail.read() ?? [])].map(([agent, { messages, pending, actionable, bad }]) => [
      agent,
      { messages: messages.length, pending, actionable, skipped: bad.length },
    ]),
  );
const message = (more: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    ...{ schema_version: 2, id: 'msg_x', from: 'a', to: 'b', type: 'info', text: 'hi', requires_ack: false },
    ...{ status: 'pending', created_at: '2026-06-20T09:18:52.000Z', ...more },
  });
const why = (json: string): string => {
  const read = parseAgentMessage(json, whole);
  return read.is === 'refused' ? read.why : read.is;
};

test('F7 a message whose fields are nested too deeply is refused by itself, in words', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  for (const key of ['type', 'status']) {
    const json = message({ [key]: 'DEEP' }).replace('"DEEP"', deep);
    assert.equal(why(json), 'is not valid JSON: it is nested deeper than 64 levels');
  }
});

describe('brainclaw check 7: agent mail', () => {
  test('is counted as the reference counts it, bad files too', () => {
    using store = brainclaw();
    assert.deepEqual(counts(open(store)), EXPECTED.inbox);
    const codex = open(store).read()?.get('codex');
    assert.deepEqual(
      codex?.bad.map(({ name }) => name),
      ['msg_0000000000000009.json', 'msg_00000000000000bad.json'],
    );
    assert.match(codex?.bad[0]?.why ?? '', /type "shout"/);
  });

  test('has what a message says', () => {
    using store = brainclaw();
    const [first] = open(store).read()?.get('codex')?.messages ?? [];
    assert.deepEqual(first, {
      ...{ id: 'msg_0000000000000001', from: 'claude-code', to: 'codex', type: 'assign', status: 'pending' },
      ...{ text: 'Work item: implement parser', requires_ack: true, ref: 'pln_0002', short_label: 'msg#01' },
      ...{ thread_id: null, claim_id: 'clm_a0', assignment_id: 'asg_a0' },
      ...{ created_at: '2026-06-20T09:17:21.000Z', updated_at: '2026-06-20T09:17:21.000Z' },
    });
  });

  test('is read again where a file has changed, and only there', () => {
    using store = brainclaw();
    const mail = open(store);
    mail.read();
    const before = mail.opened.length;
    mail.read();
    assert.equal(mail.opened.length, before);
    const path = join(inboxes(store), 'codex', 'msg_0000000000000006.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace('"pending"', '"read"'));
    writeFileSync(join(inboxes(store), 'hermes', 'msg_1.json'), message());
    rmSync(join(inboxes(store), 'claude-code', 'msg_0000000000000007.json'));
    const seen = mail.read();
    assert.equal(mail.opened.length, before + 2);
    assert.deepEqual(
      ['codex', 'hermes', 'claude-code'].map((agent) => seen?.get(agent)?.pending),
      [1, 1, 0],
    );
  });

  test('that is being written is bad until it is whole', () => {
    using store = brainclaw();
    const mail = open(store);
    const path = join(inboxes(store), 'hermes', 'msg_1.json');
    writeFileSync(path, message().slice(0, 30));
    assert.deepEqual([mail.read()?.get('hermes')?.pending, mail.read()?.get('hermes')?.bad.length], [0, 1]);
    appendFileSync(path, message().slice(30));
    assert.deepEqual([mail.read()?.get('hermes')?.pending, mail.read()?.get('hermes')?.bad.length], [1, 0]);
  });

  test('is not what lies beside it, above it, behind a symlink or under a strange name', () => {
    using store = brainclaw();
    const at = inboxes(store);
    writeFileSync(join(at, 'msg_root.json'), message());
    writeFileSync(join(at, 'hermes', 'notes.md'), message());
    writeFileSync(join(at, 'hermes', '.msg.json'), message());
    mkdirSync(join(at, 'Odd Name'));
    writeFileSync(join(at, 'Odd Name', 'msg_1.json'), message());
    mkdirSync(join(at, 'hermes', 'deep.json'));
    symlinkSync(join(at, 'codex'), join(at, 'mirror'));
    symlinkSync(store.write('outside.json', message()), join(at, 'hermes', 'msg_link.json'));
    const expected = { ...EXPECTED.inbox, hermes: { messages: 0, pending: 0, actionable: 0, skipped: 2 } };
    assert.deepEqual(counts(open(store)), expected);
  });

  test('is nothing where there is no inbox at all', () => {
    using store = brainclaw();
    rmSync(inboxes(store), { recursive: true });
    assert.equal(open(store).read(), null);
  });

  test('is looked at without a trace', () => {
    using store = brainclaw();
    const path = join(inboxes(store), 'codex', 'msg_0000000000000001.json');
    utimesSync(path, 1, 1);
    const mail = open(store);
    mail.read();
    assert.ok(mail.opened.every((name) => /inbox\/[a-z-]+\/msg_[^/]+\.json$/.test(name)));
  });
});

describe('brainclaw 5: a message', () => {
  test('is cut where it is asked for', () => {
    const read = parseAgentMessage(message({ text: 'long text' }), (text) => text.slice(0, 4));
    assert.equal(read.is === 'message' && read.message.text, 'long');
  });

  test('without a status is pending', () => {
    const read = parseAgentMessage(message({ status: undefined, requires_ack: undefined }), whole);
    assert.ok(read.is === 'message');
    assert.deepEqual([read.message.status, read.message.requires_ack], ['pending', false]);
  });

  for (const [label, json, reason] of [
    ['no JSON', '{', /not valid JSON/],
    ['a list', '[]', /not an object/],
    ['no id', message({ id: '' }), /no id/],
    ['an id that is no text', message({ id: 5 }), /no id/],
    ['no sender', message({ from: undefined }), /no from/],
    ['no addressee', message({ to: null }), /no to/],
    ['no time', message({ created_at: 1 }), /no created_at/],
    ['no text', message({ text: {} }), /no text/],
    ['an odd type', message({ type: 'shout' }), /type "shout", not one of assign/],
    ['an odd status', message({ status: 'gone' }), /status "gone", not one of pending/],
    ['an odd requires_ack', message({ requires_ack: 'yes' }), /neither true nor false/],
  ] as const)
    test(`with ${label} is refused`, () => assert.match(why(json), reason));
});

test('D6 a message of a newer schema is mail, whatever its type; in the schema that is known a type that is none is a mistake', () => {
  const read = parseAgentMessage(message({ schema_version: 3, type: 'handover' }), whole);
  assert.deepEqual(read.is === 'message' && [read.message.type, read.message.status], ['handover', 'pending']);
  assert.equal(parseAgentMessage(message({ schema_version: 3 }), whole).is, 'message');
  assert.match(why(message({ type: 'handover' })), /^has type "handover", not one of /);
  for (const type of ['', null, 5, {}]) assert.match(why(message({ schema_version: 3, type })), /^has type /);
  using store = brainclaw();
  const folder = join(inboxes(store), 'codex');
  writeFileSync(join(folder, 'msg_new.json'), message({ schema_version: 3, type: 'handover', id: 'msg_new' }));
  const codex = createAgentMailReader(readOnlyFiles().files, inboxes(store), whole).read()?.get('codex');
  assert.deepEqual([codex?.pending, codex?.actionable, codex?.bad.length], [3, 4, 2]);
});
