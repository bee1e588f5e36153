import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { getAssetPath } from '../assets.node.ts';
import { REVALIDATE } from './api-routes.ts';
import { matchesEtag } from './current.ts';

/**
 * `GET /openapi.json`: the routes of this server, as `build/openapi.ts` wrote them from the schemas. It shows nothing of what is
 * watched.
 */
export function registerOpenapiRoute(app: FastifyInstance): void {
  let read: { readonly body: Buffer; readonly etag: string } | null = null;
  app.get('/openapi.json', { config: { tellsNothing: true } }, async (request, reply) => {
    if (read === null) {
      const body = readFileSync(getAssetPath('openapi.json'));
      read = { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
    }
    void reply.header('ETag', read.etag).header('Cache-Control', REVALIDATE);
    if (matchesEtag(request.headers['if-none-match'], read.etag)) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(read.body);
  });
}
