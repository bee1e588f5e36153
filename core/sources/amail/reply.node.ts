import { findOwnHome } from '../../state/index.ts';
import type { SourceHost } from '../module.ts';
import { createReplyFault, explainRefusal, runReplyProgram } from '../reply-program.node.ts';
import type { Reply, ReplyResult } from '../source.ts';
import { toOneLine } from '../source-tools.ts';

/** Has the mail server send what a person typed. @param address of the agent, `SLUG/NAME` @throws Fault */
export type ReplyToMailAgent = (address: string, reply: Reply, signal: AbortSignal) => Promise<ReplyResult>;

/** The person, as both servers call them. */
const PERSON = 'HumanOverseer';
const SUBJECT_CHARS = 80;

/** Runs `am mail` of the Rust server: an answer to a message, else a new message to an agent (agent-mail contract 4). */
export function createMailReply({ env }: Pick<SourceHost, 'env'>): ReplyToMailAgent {
  return async (address, reply, signal) => {
    const at = address.indexOf('/');
    const [slug, name] = [address.slice(0, at), address.slice(at + 1)];
    const args = ['mail', ...toArguments(slug, name, reply)];
    const missing = 'it comes with the Rust server; with the Python server write on its page, which hivebar open shows';
    const end = await runReplyProgram({ name: 'am', args, cwd: findOwnHome(), env: { ...env }, missing }, signal);
    if (end.code !== 0) throw createReplyFault('exec-failed', explainRefusal('am mail', end));
    return { is: 'accepted', says: 'sent: the mail server has it' };
  };
}

/** A value stands in the argument of its flag, because text may begin with a dash. */
function toArguments(slug: string, name: string, { text, message, subject }: Reply): readonly string[] {
  if (slug.startsWith('-'))
    throw createReplyFault('usage', `the project ${slug} is not named to am, which takes it for a flag`);
  if (message === null)
    return [
      ...['send', '-p', slug, `--from=${PERSON}`, `--to=${name}`],
      ...[`--subject=${subject ?? toOneLine(text, SUBJECT_CHARS)}`, `--body=${text}`],
    ];
  if (!/^[1-9]\d{0,15}$/.test(message))
    throw createReplyFault('usage', `${message} is no message of a mail server: its messages are numbers`);
  if (subject !== null) throw createReplyFault('usage', 'an answer has the subject of its message: leave it out');
  return ['reply', '-p', slug, `--message-id=${message}`, `--body=${text}`];
}
