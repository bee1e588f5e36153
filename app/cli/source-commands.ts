import type { CommandTable } from '../../core/command/index.ts';
import { SOURCE_LIST } from '../../core/sources/derived.ts';
import type { CommandHost } from '../../core/sources/module.ts';

/** The commands of all sources. */
export const SOURCE_COMMANDS: CommandTable = Object.fromEntries(
  SOURCE_LIST.flatMap(({ commands = [] }) =>
    commands.map(({ name, summary, needs, load }) => [
      name,
      {
        ...{ summary, needs },
        load: async () => {
          const [{ createCommand }, host] = await Promise.all([load(), loadHost()]);
          return { command: createCommand(host) };
        },
      },
    ]),
  ),
);

async function loadHost(): Promise<CommandHost> {
  return (await import('./command-host.ts')).COMMAND_HOST;
}
