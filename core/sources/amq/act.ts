import type { XStatic } from 'typebox/schema';
import { Fault, type FaultCode } from '../../model/index.ts';
import type { ProcessEnd, Spawn } from '../../ports/index.ts';
import { toOneLine } from '../source-tools.ts';
import type { AMQ_ACTION } from './action-schema.ts';
import { USER } from './message.ts';

/** What a person asks of AMQ. */
export type AmqActionParams = XStatic<typeof AMQ_ACTION>;

/** The queue and the mailbox that a request is about. */
export interface AmqTarget {
  readonly queue: string;
  readonly handle: string;
}

const TIMEOUT_MS = 30_000;
const OUTPUT_CHARS = 400;
/** What its exit codes mean (AMQ contract 4). */
const REFUSALS: ReadonlyMap<number, string> = new Map([
  [5, 'the queue is pinned to another session'],
  [6, 'a person has to decide it in AMQ'],
]);

/**
 * Has AMQ mark mail of the person as read, reply to it, or send mail to an agent, as the person. Nothing is written past AMQ.
 * @throws Fault `usage` for a request that makes no sense, `exec-failed` or `exec-timeout`
 */
export async function runAmqAction(
  params: AmqActionParams,
  target: AmqTarget,
  spawn: Spawn,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<{ readonly done: AmqActionParams['do'] }> {
  const args = buildArguments(params, target);
  const own = Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
  const command = { file: 'amq', args, env: Object.fromEntries(own), timeoutMs: TIMEOUT_MS };
  const end = await spawn.run(command, signal);
  if (end.is === 'exited' && end.code === 0) return { done: params.do };
  throw createFault(end.is === 'timeout' ? 'exec-timeout' : 'exec-failed', `amq ${args[0]}: ${explainEnd(end)}`);
}

/** A reply as AMQ is asked for it: to a message, else a new one. Null for a new one to the person. */
export function toReplyParams(reply: {
  readonly persona: string;
  readonly handle: string;
  readonly text: string;
  readonly message: string | null;
}): AmqActionParams | null {
  const { persona, handle, text, message } = reply;
  if (message !== null) return { persona, do: 'reply', message, text };
  return handle === USER ? null : { persona, do: 'send', text };
}

/** The arguments, without a shell. `--root` and `--me` pin who acts and where. */
function buildArguments(params: AmqActionParams, { queue, handle }: AmqTarget): readonly string[] {
  const { do: work, message, text = '', urgent = false } = params;
  const pinned = ['--root', queue, '--me', USER];
  if (work === 'send') {
    if (handle.startsWith('-')) throw createFault('usage', `mail to ${handle} is not sent: AMQ takes it for a flag`);
    return [
      'send',
      ...pinned,
      '--to',
      handle,
      '--body',
      requireText(text),
      ...(urgent ? ['--priority', 'urgent'] : []),
    ];
  }
  if (handle !== USER) throw createFault('usage', `the mail of ${handle} is its own: only yours is read or answered`);
  if (message === undefined) throw createFault('usage', 'the message is not named');
  if (work === 'read') return ['read', ...pinned, '--id', message];
  return ['reply', ...pinned, '--id', message, '--body', requireText(text)];
}

function requireText(text: string): string {
  if (text.trim() === '' || text.includes('\0')) throw createFault('usage', 'a text is needed');
  return text;
}

function explainEnd(end: ProcessEnd): string {
  switch (end.is) {
    case 'exited': {
      const output = toOneLine(end.stderr, OUTPUT_CHARS);
      const meaning = REFUSALS.get(end.code);
      const words = [meaning, output === '' ? undefined : output].filter((part) => part !== undefined);
      return `it ended with ${end.code}${words.length === 0 ? '' : `: ${words.join(': ')}`}`;
    }
    case 'killed':
      return `it was ended by ${end.signal}`;
    case 'timeout':
      return `it did not end within ${TIMEOUT_MS / 1000} s`;
    case 'not-started':
      return end.why;
  }
}

export const createFault = (code: FaultCode, message: string): Fault =>
  new Fault(code, message, { is: 'machine', key: 'amq-action' });
