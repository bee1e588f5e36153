import { findProgram } from '../../ports/index.ts';
import { findOwnHome } from '../../state/index.ts';
import type { SourceHost } from '../module.ts';
import { runProgram } from '../run-program.node.ts';
import { PAGE_EVENTS, type RunInboxEvents } from './deliveries.ts';
import { REQUEST_MS } from './server.ts';

/** Runs `am inbox-events`, which asks the running server. Its database is not opened for it. */
export function createInboxEventsRunner(base: string, { env }: Pick<SourceHost, 'env'>): RunInboxEvents {
  const { hostname, port } = new URL(base);
  return async ({ folder, name }, after, signal) => {
    const file = findProgram('am', env, process.platform);
    if (file === null) return null;
    const agent = [`--project=${folder}`, `--agent=${name}`, `--after=${after}`, `--limit=${PAGE_EVENTS}`];
    const args = ['inbox-events', ...agent, `--host=${hostname}`, `--port=${port || 80}`, '--format=json'];
    const end = await runProgram({ file, args, cwd: findOwnHome(), env, timeoutMs: REQUEST_MS }, signal);
    return end.is === 'exited' ? end : null;
  };
}
