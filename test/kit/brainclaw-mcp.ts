import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/**
 * A STAND-IN for `brainclaw mcp`, which is not installed here: the protocol's lines on stdin and stdout, by nothing but Node.
 * `RECORD FAULT STORE mcp`: what it was started with and asked for is a line each of RECORD; STORE, unless it is `-`, gets
 * the journal record of what it is asked to do, as brainclaw's own writer appends it.
 */
const [record = '', fault = 'none', store = '-', ...argv] = process.argv.slice(2);

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly arguments?: Readonly<Record<string, unknown>> };
}

const note = (entry: object): void => appendFileSync(record, `${JSON.stringify(entry)}\n`);
const print = (line: string): boolean => process.stdout.write(`${line}\n`);
const answer = (id: Message['id'], result: object): boolean => print(JSON.stringify({ jsonrpc: '2.0', id, result }));

note({ is: 'started', pid: process.pid, argv, env: process.env, cwd: process.cwd() });
if (fault === 'exits') fail('this project has no memory');
if (fault === 'junk') print('brainclaw 1.27 — welcome!\n\n{"not":"a message"}');
if (fault === 'only-junk') print('usage: brainclaw COMMAND');
if (fault === 'flood') process.stdout.write('x'.repeat(9 * 1024 * 1024));
process.on('SIGTERM', () => {
  note({ is: 'asked to end' });
  if (fault !== 'stubborn') process.exit(0);
});
if (fault === 'stubborn') setInterval(() => {}, 1000);

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line) as Message;
  if (fault === 'mute' || fault === 'only-junk') return;
  if (method === 'initialize') {
    note({ is: 'greeted', params });
    const { protocolVersion } = params as { readonly protocolVersion?: string };
    answer(id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'brainclaw', version: '0.0.0' } });
  }
  if (method === 'tools/call') call(id, params);
});

function call(id: Message['id'], params: Message['params']): void {
  note({ is: 'called', params });
  const args = params?.arguments ?? {};
  if (fault === 'slow') return;
  if (fault === 'dies') fail('the lock of the store is held');
  if (fault === 'error') {
    answer(id, { content: [{ type: 'text', text: 'Claim not found:\u001b[31m clm_9' }], isError: true });
    return;
  }
  if (fault === 'refuses') {
    print(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32602, message: 'unknown tool' } }));
    return;
  }
  const summary = { attention_required: 4, in_progress: 3, plans: { in_progress: 2, todo: 5 }, agents: 6, sessions: 2 };
  const result = params?.name === 'bclaw_context' ? summary : { ok: true, id: args.id };
  answer(id, { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result });
  if (store !== '-' && params?.name === 'bclaw_transition') append(String(args.entity), String(args.id));
}

/** A candidate that is not pending any more is gone from the journal. */
function append(entity: string, id: string): void {
  const events = join(store, 'events');
  const segment =
    readdirSync(events)
      .filter((name) => /^seg-\d{8}\.jsonl$/.test(name))
      .sort()
      .at(-1) ?? '';
  // Some seqs of the data are far ahead on purpose: no reader believes them.
  const seqs = readFileSync(join(events, segment), 'utf8')
    .split('\n')
    .flatMap((line) => (/^\{"v":2,"seq":\d+,/.test(line) ? [Number(line.slice(13).split(',')[0])] : []))
    .filter((seq) => seq < 10_000);
  const about = { v: 2, seq: Math.max(...seqs) + 1, ts: new Date().toISOString(), writer: `w_${process.pid}-abcdef` };
  const done = { ...about, agent: 'a-person', action: 'delete', item_type: entity, item_id: id };
  appendFileSync(join(events, segment), `\n${JSON.stringify(done)}\n`);
  note({ is: 'appended', seq: about.seq });
}

function fail(why: string): never {
  process.stderr.write(`Error: ${why}\n`);
  process.exit(3);
}
