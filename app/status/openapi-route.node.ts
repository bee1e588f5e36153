import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { ActionTable } from './action-routes.ts';
import { REVALIDATE } from './api-routes.ts';
import { matchesEtag } from './current.ts';

/**
 * `GET /openapi.json`: the routes of this server, from the schemas that they use. It is built when somebody asks for it, and
 * shows nothing of what is watched.
 */
export function registerOpenapiRoute(app: FastifyInstance, actions: ActionTable): void {
  let built: { readonly body: string; readonly etag: string } | null = null;
  app.get('/openapi.json', { config: { tellsNothing: true } }, async (request, reply) => {
    if (built === null) {
      const { buildOpenapi } = await import('./openapi.ts'); // few ask, and all others need no schemas of answers
      const body = buildOpenapi(actions);
      built = { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
    }
    void reply.header('ETag', built.etag).header('Cache-Control', REVALIDATE);
    if (matchesEtag(request.headers['if-none-match'], built.etag)) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(built.body);
  });
}
