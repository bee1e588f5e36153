import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Log } from '../../core/ports/index.ts';
import { answerJson } from './answer.ts';
import type { OnceCodes } from './once-codes.ts';
import { HttpRefusal } from './problem.ts';
import { parseTokenBody } from './queries.ts';

export interface TokenRouteNeeds {
  readonly once: OnceCodes;
  readonly token: string;
  /** Whether another user of the machine owns the far end of the connection. */
  readonly isStranger: (request: FastifyRequest) => boolean;
  readonly log: Log;
}

/** Larger than a code and the JSON around it. */
const BODY_LIMIT = 1024;

/** `POST /api/v1/token` exchanges the code of a one-time link for the token. It needs no token, since this is how to get one. */
export function registerTokenRoute(app: FastifyInstance, { once, token, isStranger, log }: TokenRouteNeeds): void {
  const warned = new Set<string>();
  /** Anybody may send wrong codes at any rate, so each kind of refusal is logged once. */
  const warnOnce = (line: string): void => {
    if (warned.has(line)) return;
    warned.add(line);
    log.warn(`${line}; further ones are not logged`);
  };
  const options = { bodyLimit: BODY_LIMIT, config: { tellsNothing: true } } as const;
  app.post('/api/v1/token', options, async (request, reply) => {
    const { code } = parseTokenBody(request.body);
    // The system is asked only for a good code, because that takes milliseconds and anybody may send wrong ones.
    if (once.isGood(code) && isStranger(request)) {
      warnOnce('a one-time code from another user of this machine was refused');
      const next = 'log in as the user who runs Hivebar, or give the page the token of its run directory';
      throw new HttpRefusal(403, 'another-user', 'the connection belongs to another user of this machine', next);
    }
    switch (once.redeem(code)) {
      case 'good':
        return answerJson(reply, { token });
      case 'again':
        // the link was opened twice, or somebody else used it first: the owner should know
        warnOnce('a one-time link was used a second time and refused');
        throw createCodeRefusal('this link has already been used');
      case 'bad':
        warnOnce('a one-time code was wrong or older than a minute, and refused');
        throw createCodeRefusal('this link has expired or was never valid');
    }
  });
}

function createCodeRefusal(message: string): HttpRefusal {
  const next = 'ask for a new link: Open status page in the tray menu, or hivebar open';
  return new HttpRefusal(403, 'bad-code', message, next);
}
