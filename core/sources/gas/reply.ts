import { Fault, type FaultCode } from '../../model/index.ts';
import type { Persona, Reply, ReplyResult, Source } from '../source.ts';
import { toOneLine } from '../source-tools.ts';
import type { CityFetcher } from './city-client.ts';

/** The person, in a city. */
export const HUMAN = 'human';
/** The person, in a town. */
export const OVERSEER = 'overseer';

/** Runs `gt` in the folder of the town. @throws Fault when it fails */
export type RunGt = (args: readonly string[], signal: AbortSignal) => Promise<void>;

type SendReply = NonNullable<Source['reply']>;

const SUBJECT_CHARS = 80;

/**
 * Answers a message of the person in a city, as that person (Gas City contract 5). A city has no documented way to send new mail.
 * @param findSubject of a message that is known; null when it is not
 */
export function createCityReply(
  fetcher: Pick<CityFetcher, 'post'>,
  city: string,
  findSubject: (message: string) => string | null,
): SendReply {
  return async ({ id, address }, { text, message, subject }, signal): Promise<ReplyResult> => {
    if (address !== HUMAN)
      throw createFault('usage', `${id} is not you: in a city only messages to ${HUMAN} are answered from here`);
    if (message === null) throw createFault('usage', `${id} is you: name the message of yours that you answer`);
    const path = `/v0/city/${encodeURIComponent(city)}/mail/${encodeURIComponent(message)}/reply`;
    const title = subject ?? toReplySubject(findSubject(message));
    const body = { from: HUMAN, subject: title, body: text };
    await fetcher.post(path, body, signal, { headers: { 'X-GC-Request': '1' } });
    return { is: 'accepted', says: `sent: the city ${city} has it` };
  };
}

/** Answers a message of the person in a town, or sends new mail to a member. */
export function createTownReply(runGt: RunGt): SendReply {
  return async (persona, reply, signal): Promise<ReplyResult> => {
    await runGt(toGtArguments(persona, reply), signal);
    return { is: 'accepted', says: 'sent: gt has it' };
  };
}

function toGtArguments({ id, address }: Persona, { text, message, subject }: Reply): readonly string[] {
  if (message !== null) {
    if (address !== OVERSEER) throw createFault('usage', `the mail of ${id} is its own: only yours is answered`);
    if (subject !== null)
      throw createFault('usage', 'an answer in a town has the subject of its message: leave it out');
    return ['mail', 'reply', message, '-m', text];
  }
  if (address === OVERSEER) throw createFault('usage', `${id} is you: name the message of yours that you answer`);
  if (address.startsWith('-')) throw createFault('usage', `mail to ${address} is not sent: gt takes it for a flag`);
  return ['mail', 'send', address, '-s', subject ?? toOneLine(text, SUBJECT_CHARS), '-m', text];
}

function toReplySubject(subject: string | null): string {
  if (subject === null || subject === '') return 'Re: your message';
  return /^re:/i.test(subject) ? subject : `Re: ${subject}`;
}

function createFault(code: FaultCode, message: string): Fault {
  return new Fault(code, message, { is: 'machine', key: 'reply' });
}
