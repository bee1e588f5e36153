import { type Answers, type Asked, askLink, type DaemonPlaces, type LinkRequest } from '../../../core/link/index.ts';
import { Fault } from '../../../core/model/index.ts';

/** A daemon that rings waits 2 s for its surface, and no other answer takes as long. */
const WITHIN_MS = 5000;

/**
 * What a daemon answers to a person.
 * @throws Fault `daemon-gone`: it does not run; `daemon-refused`: it answers otherwise, or not at all
 */
export async function answerOf<R extends LinkRequest>(places: DaemonPlaces, request: R): Promise<Answers[R['verb']]> {
  const asked = await askLink(places, request, { timeoutMs: WITHIN_MS });
  if (asked.is === 'answered') return asked.answer;
  throw new Fault(asked.is === 'not-running' ? 'daemon-gone' : 'daemon-refused', wordsOf(places, asked), {
    is: 'machine',
    key: `daemon:${places.name}`,
  });
}

function wordsOf(
  { name, socket }: DaemonPlaces,
  asked: Exclude<Asked<LinkRequest['verb']>, { is: 'answered' }>,
): string {
  switch (asked.is) {
    case 'not-running':
      return `the daemon ${name} does not run: nobody answers at ${socket}`;
    case 'refused':
      return `the daemon ${name} refused${asked.error === null ? '' : ` (${asked.error})`}: ${asked.message}`;
    case 'bad-answer':
      return `the daemon ${name} answers what this version does not know`;
    case 'silent':
      return `the daemon ${name} does not answer within ${WITHIN_MS / 1000} s`;
  }
}
