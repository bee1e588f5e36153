import type { CommandTable } from '../../core/command/index.ts';
import { greet } from './mcp-greet.node.ts';

/** The command alone: the table of all commands takes longer to load than Node takes to start. */
const COMMANDS: CommandTable = {
  mcp: {
    summary: 'serve an agent its inbox as tools, over MCP',
    group: 'agents',
    needs: 'store',
    load: () => import('./mcp.ts'),
  },
};

const SERVES: ReadonlySet<string> = new Set(['mcp', 'mcp --channel']);

/** Answers the first message of the client, and then loads what serves the rest. */
export async function run(args: readonly string[]): Promise<void> {
  if (SERVES.has(args.join(' '))) await greet(args.includes('--channel'));
  const { limitProgramMemory } = await import('../host/machine.node.ts');
  limitProgramMemory(); // an agent calls it some times per turn
  const { main } = await import('./main.node.ts');
  await main(args, COMMANDS);
}
