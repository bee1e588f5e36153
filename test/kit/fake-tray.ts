import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { scratch } from './scratch.ts';

/** A socket that answers as the tray process does, for commands that ask it. */
export interface FakeTray extends AsyncDisposable {
  /** What a command needs to find it. */
  readonly env: { readonly HIVEBAR_HOME: string };
  /** The JSON that it answers, by path; 404 for any other. */
  readonly answers: Record<string, unknown>;
  /** The requests that came, oldest first. */
  readonly requests: { readonly path: string; readonly body: string }[];
}

export async function startFakeTray(): Promise<FakeTray> {
  const home = scratch();
  mkdirSync(home.at('run'));
  const answers: Record<string, unknown> = {};
  const requests: FakeTray['requests'] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const path = request.url ?? '';
    requests.push({ path, body });
    const answer = JSON.stringify(answers[path] ?? { error: { message: 'there is no such route' } });
    response.statusCode = Object.hasOwn(answers, path) ? 200 : 404;
    response.setHeader('Content-Length', Buffer.byteLength(answer)).end(answer);
  });
  await new Promise<void>((resolve) => server.listen(home.at('run', 'hivebar.sock'), resolve));
  return {
    env: { HIVEBAR_HOME: home.dir },
    answers,
    requests,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
      home[Symbol.dispose]();
    },
  };
}
