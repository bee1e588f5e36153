import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from './scratch.ts';

/** Where a queue of the test data lies in its project. */
export const DATA_QUEUE = ['.agent-mail', 'collab'] as const;
const DATA = join(import.meta.dirname, '..', 'data', 'amq');

interface ExpectedMailbox {
  readonly unread: number;
  readonly urgent?: number;
  readonly unparsable?: readonly string[];
  readonly read?: readonly string[];
  readonly you?: boolean;
}

/** What a watcher has to see in the test data, by handle. */
export const AMQ_EXPECTED = JSON.parse(readFileSync(join(DATA, 'expected.json'), 'utf8')) as Readonly<
  Record<string, ExpectedMailbox>
>;

/** A queue, with those who write into it and claim from it. Gone when the test leaves its scope. */
export interface AmqQueue extends Disposable {
  /** The project. */
  readonly project: string;
  /** The folder that holds `agents`. */
  readonly queue: string;
  at(handle: string, ...parts: readonly string[]): string;
  addAgent(handle: string): void;
  /** Delivers a message as AMQ does, by a rename from `tmp`. Returns its file name. */
  send(handle: string, message?: AmqMessage): string;
  /** Delivers bytes that need not be a message. Returns the file name. */
  deliver(handle: string, bytes: string | Buffer): string;
  claim(handle: string, name: string): void;
  /** Claims everything that lies in `new`. */
  drain(handle: string): readonly string[];
}

export interface AmqMessage {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly body?: string;
}

/** @param from `data`: a copy of the test data; `empty`: a queue without agents */
export function amqQueue(from: 'data' | 'empty'): AmqQueue {
  const place = scratch();
  const project = place.at('project');
  const queue = join(project, ...DATA_QUEUE);
  if (from === 'data') cpSync(DATA, project, { recursive: true });
  else mkdirSync(join(queue, 'agents'), { recursive: true });
  let count = 0;
  const at = (handle: string, ...parts: readonly string[]): string => join(queue, 'agents', handle, ...parts);
  const deliver = (handle: string, bytes: string | Buffer): string => {
    count += 1;
    const name = `2026-08-22T11-00-00.000Z_pid${process.pid}_${count.toString(16).padStart(8, '0')}.md`;
    writeFileSync(at(handle, 'inbox', 'tmp', name), bytes);
    renameSync(at(handle, 'inbox', 'tmp', name), at(handle, 'inbox', 'new', name));
    return name;
  };
  const claim = (handle: string, name: string): void =>
    renameSync(at(handle, 'inbox', 'new', name), at(handle, 'inbox', 'cur', name));
  return {
    ...{ project, queue, at, deliver, claim },
    addAgent(handle) {
      for (const part of ['tmp', 'new', 'cur']) mkdirSync(at(handle, 'inbox', part), { recursive: true });
    },
    send: (handle, { header = {}, body = 'hello' } = {}) =>
      deliver(handle, formatAmqMessage({ header: { to: [handle], ...header }, body })),
    drain(handle) {
      const names = readdirSync(at(handle, 'inbox', 'new'));
      for (const name of names) claim(handle, name);
      return names;
    },
    [Symbol.dispose]: () => place[Symbol.dispose](),
  };
}

export function formatAmqMessage({ header = {}, body = '' }: AmqMessage): string {
  const all = { schema: 1, id: 'x', from: 'cy', to: [], thread: 't', created: '2026-08-22T11:00:00Z', ...header };
  return `---json\n${JSON.stringify(all, null, 2)}\n---\n${body}\n`;
}
