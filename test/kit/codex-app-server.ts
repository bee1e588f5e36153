import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A hook as Codex itself sees it. */
export interface CodexHook {
  readonly key: string;
  readonly command: string;
  readonly enabled: boolean;
  readonly currentHash: string;
  readonly trustStatus: 'managed' | 'trusted' | 'modified' | 'untrusted';
}

/** Asks the app-server of this Codex which hooks it knows for a folder. */
export async function listCodexHooks(
  program: string,
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<readonly CodexHook[]> {
  const server = spawn(program, ['app-server'], { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(server, 'exit');
  const send = (message: object): void => void server.stdin.write(`${JSON.stringify(message)}\n`);
  try {
    send({ id: 1, method: 'initialize', params: { clientInfo: { name: 'test', title: null, version: '1' } } });
    for await (const line of createInterface(server.stdout)) {
      const { id, result } = JSON.parse(line) as { id?: number; result?: { data: readonly { hooks: CodexHook[] }[] } };
      if (id === 1) {
        send({ method: 'initialized' });
        send({ id: 2, method: 'hooks/list', params: { cwds: [cwd] } });
      }
      if (id === 2) {
        assert.ok(result?.data[0] !== undefined, line);
        return result.data[0].hooks;
      }
    }
    return assert.fail('the app-server ended without an answer');
  } finally {
    server.kill();
    await ended;
  }
}
