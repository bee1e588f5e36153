import type { FastifyInstance } from 'fastify';
import type { Log } from '../../core/ports/index.ts';
import { answerJson } from './answer.ts';
import type { OnceCodes } from './once.ts';
import { Refusal } from './problem.ts';
import { tokenBody } from './queries.ts';

/** `POST /api/v1/token`: the code of a one-time link for the token. It asks for no token, since it is how to get one. */
export function tokenRoute(app: FastifyInstance, once: OnceCodes, token: string, log: Log): void {
  app.post('/api/v1/token', { config: { tellsNothing: true } }, async (request, reply) => {
    const redeemed = once.redeem(tokenBody(request.body).code);
    switch (redeemed.is) {
      case 'good':
        return answerJson(reply, { token });
      case 'limited': {
        const { seconds } = redeemed;
        void reply.header('Retry-After', seconds);
        throw new Refusal(429, 'too-many-codes', 'too many wrong codes were tried', `try again in ${seconds} s`);
      }
      case 'again':
        // by who opened the link once more, or after somebody else had read it: its owner should know
        log.warn('a one-time link was used a second time and refused');
        throw refused('this link was used already');
      case 'bad':
        throw refused('this link is no longer good, or never was');
    }
  });
}

function refused(message: string): Refusal {
  const next = 'ask for a new link: Open status page in the tray menu, or hivebar open';
  return new Refusal(403, 'bad-code', message, next);
}
