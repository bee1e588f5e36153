import { findOwnHome } from '../../state/index.ts';
import type { SourceHost } from '../module.ts';
import { createReplyFault, explainRefusal, runReplyProgram } from '../reply-program.node.ts';
import type { Reply, ReplyResult } from '../source.ts';

/** Stores what a person typed in the queue of a thread. @throws Fault */
export type ReplyToThread = (thread: string, reply: Reply, signal: AbortSignal) => Promise<ReplyResult>;

/** What `codex queue` writes when it ends with 1: the same code for two things, and for others (contract 8). */
const NO_SESSION = /no active session found|no rollout found for thread/i;
const READ_ONLY = /readonly database|read-only file system/i;

/** Runs `codex queue` for a person. Codex itself delivers the message, when somebody runs the thread. */
export function createThreadReply(home: string, { env }: Pick<SourceHost, 'env'>): ReplyToThread {
  return async (thread, { text, message }, signal) => {
    if (message !== null)
      throw createReplyFault('usage', `a thread takes what you say, and no reply to one message: leave ${message} out`);
    const end = await runReplyProgram(
      {
        name: 'codex',
        args: ['queue', '--thread', thread, `--message=${text}`], // a text may begin with a dash
        cwd: findOwnHome(),
        env: { ...env, CODEX_HOME: home },
        missing: 'install Codex 0.149 or later there',
      },
      signal,
    );
    if (end.code === 0) return { is: 'stored', says: 'stored, not delivered: it lies in the queue of the thread' };
    const [line = end.stderr] = end.stderr.split('\n').filter((each) => /^error/i.test(each)); // beside warnings and a stack
    const why = explainRefusal('codex queue', { ...end, stderr: line });
    if (NO_SESSION.test(end.stderr))
      throw createReplyFault(
        'usage',
        `${why}. Codex has no such thread any more: codex resume lists those that it has`,
      );
    if (READ_ONLY.test(end.stderr))
      throw createReplyFault('unwritable', `${why}. Hivebar may not write in ${home}: run it outside of a sandbox`);
    throw createReplyFault('exec-failed', why);
  };
}
