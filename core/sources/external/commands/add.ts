import { isAbsolute, resolve } from 'node:path';
import type { Io, ParsedValues } from '../../../command/index.ts';
import { displayName } from '../../../format/index.ts';
import { resolveProgram } from '../../../ports/index.ts';
import type { CommandHost } from '../../module.ts';
import { realChildren } from '../child.node.ts';
import { findScript } from '../command.ts';
import type { ExternalSource } from '../settings.ts';
import { createUsageFault, follow, listConfigured } from './change.ts';
import type { SOURCE_SCHEMA } from './schema.ts';

type AddValues = Extract<ParsedValues<typeof SOURCE_SCHEMA>, { readonly verb: 'add' }>;

/** `hivebar source add` */
export async function addSource(values: AddValues, io: Io, host: CommandHost): Promise<number> {
  const source = toSource(values, io);
  const file = await host.editSettings(io.env);
  const sources = listConfigured(file);
  if (sources.some(({ name }) => name === source.name))
    throw createUsageFault(`${source.name} is a source already: hivebar source remove ${source.name} removes it`);
  const next = [...sources, source];
  file.check('sources', next); // before anybody is asked
  for (const line of describePermissions(source)) io.out(`${line}\n`);
  if (!values.yes && !(await host.ask(`Add ${source.name}? [y/N] `))) {
    io.err('nothing was added; --yes answers for you\n');
    return 1;
  }
  file.set('sources', next);
  const since = await follow(io, host);
  io.out(`${source.name} is watched, ${since}: its personas are ${source.name}-NAME\n`);
  return 0;
}

/** @throws Fault `usage` */
function toSource(values: AddValues, io: Io): ExternalSource {
  const { name, every, maildir, file, http, rest, cwd, stale, layout } = values;
  const program = rest === null || rest.length === 0 ? null : rest;
  const given = [program, maildir, file, http].filter((value) => value != null);
  if (given.length !== 1)
    throw createUsageFault('source add: needs one of -- PROGRAM, --maildir DIR, --file FILE and --http URL');
  const common = {
    name,
    ...(every === undefined ? {} : { every: every / 1000 }),
    ...(values['stalled-after'] === undefined ? {} : { stalledAfter: values['stalled-after'] / 1000 }),
    ...(values.acts ? { acts: true } : {}),
    ...(values.opens ? { opens: true } : {}),
  };
  if (maildir !== undefined) return { ...common, is: 'maildir', path: resolve(maildir), layout };
  if (file !== undefined)
    return { ...common, is: 'file', path: resolve(file), ...(stale === undefined ? {} : { stale: stale / 1000 }) };
  if (http !== undefined) return { ...common, is: 'http', url: http };
  const env = toVariables(values.env ?? []);
  return {
    ...common,
    is: every === undefined ? 'exec' : 'poll',
    argv: resolveArgv(program ?? [], io.env),
    ...(cwd === undefined ? {} : { cwd: resolve(cwd) }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
  };
}

/**
 * The program with its whole path, and its script too, because neither depends on where somebody stands.
 * @throws Fault `usage` when it may not be run
 */
export function resolveArgv(argv: readonly string[], env: Io['env']): string[] {
  const [program = '', ...args] = argv;
  const found = resolveProgram(program, { ...env }, realChildren.platform);
  if (found === null) throw createUsageFault(`there is no program ${program} on PATH`);
  const path = isAbsolute(found) ? found : resolve(found);
  const script = findScript([path, ...args]);
  const whole = [path, ...args.map((arg) => (arg === script && realChildren.isFile(arg) ? resolve(arg) : arg))];
  const defect = realChildren.findDefect(whole, resolve('.'));
  if (defect !== null) throw createUsageFault(defect);
  return whole;
}

function toVariables(settings: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    settings.map((setting) => {
      const [, key, value] = /^([^=]+)=(.*)$/s.exec(setting) ?? [];
      if (key === undefined || value === undefined) throw createUsageFault(`--env ${setting}: needs NAME=VALUE`);
      return [key, value];
    }),
  );
}

/** What it will be allowed to do, in two lines. */
function describePermissions({ name, argv, path, url, acts, opens }: ExternalSource): readonly string[] {
  const runs = argv === undefined ? `reads ${path ?? url}` : `runs ${argv.join(' ')} as you, whenever Hivebar runs`;
  const clicks = [acts ? 'mark mail as read and reply' : null, opens ? 'run what it names' : null].filter(
    (can) => can !== null,
  );
  return [
    displayName(`${name} ${runs}`),
    clicks.length === 0
      ? 'A click runs nothing that it names, and changes nothing in it'
      : `A click may have it ${clicks.join(', and ')}`,
  ];
}
