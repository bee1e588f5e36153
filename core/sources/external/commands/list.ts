import type { Io } from '../../../command/index.ts';
import { displayJson, displayLine, displayName } from '../../../format/index.ts';
import { formatIso } from '../../../model/index.ts';
import type { CommandHost, PersonaOnStatus, SourcePlaces } from '../../module.ts';
import type { SourceReport } from '../open.ts';
import { ACTIONS, EXTERNAL, formatAddress } from '../settings.ts';
import { findConfigured, listConfigured } from './change.ts';

/** Asks the tray process how its sources do; null when it is not running. */
async function readReports(io: Io, host: CommandHost): Promise<readonly SourceReport[] | null> {
  const answer = (await host.act(io.env, ACTIONS.report, {})) as { readonly sources: readonly SourceReport[] } | null;
  return answer?.sources ?? null;
}

/** `hivebar source list` */
export async function listSources(isJson: boolean, io: Io, host: CommandHost): Promise<number> {
  const configured = listConfigured(await host.editSettings(io.env));
  const reports = await readReports(io, host);
  const personas = await host.readPersonas(io.env);
  const own = configured.map((source) => {
    const report = reports?.find(({ name }) => name === source.name) ?? null;
    return {
      ...source,
      state: report?.state ?? null,
      personas:
        report?.personas ?? countPersonas({ name: source.name, prefixes: [`${source.name}-`] }, personas).personas,
      why: report?.why ?? null,
    };
  });
  const builtIn = (await host.findPlaces(io.env))
    .filter(({ name }) => name !== EXTERNAL)
    .map((source) => ({ ...source, ...countPersonas(source, personas) }));
  if (isJson) {
    io.out(`${displayJson(JSON.stringify({ isRunning: reports !== null, sources: own, builtIn }))}\n`);
    return 0;
  }
  const rows = [
    ...own.map(({ name, is, state, personas: count, why, ...place }) => [
      name,
      formatState(state, reports !== null),
      formatPersonas(count),
      `${is} ${formatAddress(place)}${why === null ? '' : `: ${why}`}`,
    ]),
    ...builtIn.flatMap(({ name, places, personas: count, down }) =>
      places.length === 0
        ? [[name, '', formatPersonas(count), 'looks nowhere until its settings say where']]
        : places.map(({ what, where, found }, index) => [
            index === 0 ? name : '',
            found === null ? 'not there' : down > 0 ? `${down} DOWN` : 'found',
            index === 0 ? formatPersonas(count) : '',
            `${what}: ${where}${found === null ? '' : ` (${found})`}`,
          ]),
    ),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows)
    io.out(
      `${row
        .map((cell, column) => displayName(cell).padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  if (reports === null) io.out('hivebar is not running, so nobody knows how they do\n');
  return 0;
}

function countPersonas(
  { name, prefixes }: Pick<SourcePlaces, 'name' | 'prefixes'>,
  personas: readonly PersonaOnStatus[] | null,
): { readonly personas: number | null; readonly down: number } {
  if (personas === null) return { personas: null, down: 0 };
  const own = personas.filter(({ id, source }) => source === name || prefixes.some((prefix) => id.startsWith(prefix)));
  return { personas: own.length, down: own.filter(({ state }) => state === 'DOWN').length };
}

const formatPersonas = (count: number | null): string =>
  count === null ? '' : `${count} ${count === 1 ? 'persona' : 'personas'}`;

function formatState(state: string | null, isRunning: boolean): string {
  return state ?? (isRunning ? 'not watched' : '');
}

/** `hivebar source show` */
export async function showSource(name: string, isJson: boolean, io: Io, host: CommandHost): Promise<number> {
  const source = findConfigured(name, await host.editSettings(io.env));
  const reports = await readReports(io, host);
  const report = reports?.find((each) => each.name === name) ?? null;
  if (isJson) {
    io.out(`${displayJson(JSON.stringify({ source, report }))}\n`);
    return 0;
  }
  for (const [key, value] of Object.entries(source))
    io.out(`${key.padEnd(12)}  ${displayName(typeof value === 'string' ? value : JSON.stringify(value))}\n`);
  if (report === null) {
    io.out(reports === null ? 'hivebar is not running\n' : `${name} is not watched yet\n`);
    return 0;
  }
  const { state, why, personas, failures, pid, lastAnswerAt, diagnostics, stderr } = report;
  const facts: readonly (readonly [string, unknown])[] = [
    ['state', why === null ? state : `${state}: ${why}`],
    ['personas', personas],
    ['failures', failures],
    ['pid', pid ?? 'none'],
    ['last answer', lastAnswerAt === null ? 'none yet' : formatIso(lastAnswerAt)],
  ];
  for (const [key, value] of facts) io.out(`${key.padEnd(12)}  ${displayName(String(value))}\n`);
  for (const line of diagnostics) io.out(`note          ${displayLine(line)}\n`);
  for (const line of stderr) io.out(`stderr        ${displayLine(line)}\n`);
  return 0;
}
