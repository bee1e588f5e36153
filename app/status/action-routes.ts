import type { FastifyInstance, FastifyReply } from 'fastify';
import { answerJson, requireToken } from './answer.ts';
import { HttpRefusal } from './problem.ts';

/** The part of the table of actions that the routes and their OpenAPI document need. */
export type ActionTable = ReadonlyMap<
  string,
  {
    readonly title: string;
    /** A JSON Schema. */
    readonly params: object;
    readonly asks: 'nothing' | 'token';
    /** @throws Fault `usage` when the params do not fit. */
    run(params: unknown, signal: AbortSignal): Promise<unknown>;
  }
>;

/** `POST /api/v1/actions/NAME`. The JSON body has the params (empty = `{}`), and the answer is `{"result": ...}`. */
export function registerActionRoutes(
  app: FastifyInstance,
  actions: ActionTable,
  createHoldSignal: (reply: FastifyReply) => AbortSignal,
): void {
  app.post<{ Params: { name: string } }>('/api/v1/actions/:name', async (request, reply) => {
    const action = actions.get(request.params.name);
    if (action?.asks !== 'nothing') requireToken(request);
    if (action === undefined) {
      const name = JSON.stringify(request.params.name.slice(0, 100));
      throw new HttpRefusal(
        404,
        'no-action',
        `there is no action ${name}`,
        `use one of: ${[...actions.keys()].join(', ')}`,
      );
    }
    return answerJson(reply, { result: (await action.run(request.body ?? {}, createHoldSignal(reply))) ?? null });
  });
}
