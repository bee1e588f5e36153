import type { Io } from '../../../command/index.ts';
import { displayJson, displayLine } from '../../../format/index.ts';
import { realClock } from '../../../ports/index.ts';
import type { CommandHost } from '../../module.ts';
import { type CheckOptions, checkProgram, type Verdict } from '../check.ts';
import { realChildren } from '../child.node.ts';
import { buildChildEnv } from '../command.ts';
import { withScratchFolder } from '../scratch.node.ts';
import { resolveArgv } from './add.ts';
import { createUsageFault, findConfigured } from './change.ts';

interface CheckValues {
  readonly name?: string | undefined;
  readonly rest: readonly string[] | null;
  readonly json: boolean;
}

/** `hivebar source check` */
export async function checkSource({ name, rest, json }: CheckValues, io: Io, host: CommandHost): Promise<number> {
  if ((name === undefined) === (rest === null || rest.length === 0))
    throw createUsageFault('source check: needs NAME or -- PROGRAM, and not both');
  const signal = host.createStopSignal();
  const verdicts = await withScratchFolder(async (folder) => {
    const program = await findProgram(name ?? null, rest ?? [], io, host);
    const command = {
      argv: program.argv,
      cwd: program.cwd ?? folder.cwd,
      env: buildChildEnv(io.env, program.env, realChildren.platform),
    };
    const options: CheckOptions = {
      ...{ command, isOneShot: program.isOneShot, emptyHome: folder.home },
      ...{ children: realChildren, clock: realClock, signal },
    };
    return await checkProgram(options);
  });
  if (json) io.out(`${displayJson(JSON.stringify({ verdicts }))}\n`);
  else for (const verdict of verdicts) io.out(`${formatVerdict(verdict)}\n`);
  return verdicts.some(({ is }) => is === 'broken') ? 1 : 0;
}

interface CheckedProgram {
  readonly argv: readonly string[];
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly isOneShot: boolean;
}

/** @throws Fault `usage` for a source that runs no program */
async function findProgram(
  name: string | null,
  rest: readonly string[],
  io: Io,
  host: CommandHost,
): Promise<CheckedProgram> {
  if (name === null) return { argv: resolveArgv(rest, io.env), cwd: null, env: {}, isOneShot: false };
  const { is, argv, cwd, env } = findConfigured(name, await host.editSettings(io.env));
  if (argv === undefined)
    throw createUsageFault(`${name} runs no program that could be checked: Hivebar reads it itself`);
  return { argv, cwd: cwd ?? null, env: env ?? {}, isOneShot: is === 'poll' };
}

const SIGNS = { kept: 'ok     ', broken: 'BROKEN ', skipped: 'skipped' } as const satisfies Record<
  Verdict['is'],
  string
>;

function formatVerdict({ rule, about, is, seen }: Verdict): string {
  return `${SIGNS[is]} ${String(rule).padStart(2)}  ${displayLine(`${about}: ${seen}`)}`;
}
