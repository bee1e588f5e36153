import type { SourceHost } from '../module.ts';
import { createReplyFault, explainRefusal, runReplyProgram } from '../reply-program.node.ts';
import { listProgramFolders } from './places.node.ts';
import type { RunGt } from './reply.ts';

/** What says that somebody is an agent of the town. Hivebar may have been started by one, and a reply is a person's. */
const IDENTITY = /^(?:GT_|BD_ACTOR$|BEADS_)/;

/** Runs `gt` in a town as the person: outside of an agent's folder and without an agent's name it is the overseer. */
export function createGtRunner(town: string, { env }: Pick<SourceHost, 'env'>): RunGt {
  return async (args, signal) => {
    const own = Object.fromEntries(Object.entries({ ...env }).filter(([name]) => !IDENTITY.test(name)));
    const end = await runReplyProgram(
      {
        ...{ name: 'gt', args, cwd: town, env: own, beside: listProgramFolders() },
        missing: 'install Gas Town there, or send it from your terminal',
      },
      signal,
    );
    if (end.code !== 0) throw createReplyFault('exec-failed', explainRefusal('gt mail', end));
  };
}
