import {
  type Answers,
  type AskResult,
  askDaemon,
  type DaemonPlaces,
  type LinkRequest,
} from '../../../core/link/index.ts';
import { Fault } from '../../../core/model/index.ts';

/** A daemon that rings waits 2 s for its surface. No other answer takes as long. */
const WITHIN_MS = 5000;

/**
 * Asks a daemon and returns its answer.
 * @throws Fault `daemon-gone` when it does not run; `daemon-refused` when it gives another answer or none
 */
export async function requestAnswer<R extends LinkRequest>(
  places: DaemonPlaces,
  request: R,
): Promise<Answers[R['verb']]> {
  const response = await askDaemon(places, request, { timeoutMs: WITHIN_MS });
  if (response.is === 'answered') return response.answer;
  throw new Fault(response.is === 'not-running' ? 'daemon-gone' : 'daemon-refused', formatRefusal(places, response), {
    is: 'machine',
    key: `daemon:${places.name}`,
  });
}

function formatRefusal(
  { name, socket }: DaemonPlaces,
  response: Exclude<AskResult<LinkRequest['verb']>, { is: 'answered' }>,
): string {
  switch (response.is) {
    case 'not-running':
      return `the daemon ${name} does not run: nothing answers at ${socket}`;
    case 'refused':
      return `the daemon ${name} refused${response.error === null ? '' : ` (${response.error})`}: ${response.message}`;
    case 'bad-answer':
      return `the daemon ${name} sent an answer that this version does not know`;
    case 'silent':
      return `the daemon ${name} does not answer within ${WITHIN_MS / 1000} s`;
  }
}
