import type { Io } from '../../../command/index.ts';
import { Fault } from '../../../model/index.ts';
import type { CommandHost, SettingsEditor } from '../../module.ts';
import type { ExternalSource } from '../settings.ts';
import { ACTIONS } from '../settings.ts';

const SCOPE = { is: 'machine', key: 'source' } as const;

export const createUsageFault = (message: string): Fault => new Fault('usage', message, SCOPE);

export function listConfigured({ settings }: Pick<SettingsEditor, 'settings'>): readonly ExternalSource[] {
  return (settings as { readonly sources?: readonly ExternalSource[] }).sources ?? [];
}

/** @throws Fault `usage` when there is none with this name */
export function findConfigured(name: string, file: Pick<SettingsEditor, 'settings'>): ExternalSource {
  const sources = listConfigured(file);
  const source = sources.find((each) => each.name === name);
  if (source !== undefined) return source;
  const names = sources.map((each) => each.name).join(', ') || 'none';
  throw createUsageFault(`there is no source ${name} (there are: ${names}); hivebar source list shows all`);
}

/** Has the tray process follow the settings. @returns since when they hold, for a person */
export async function follow(io: Io, host: CommandHost): Promise<string> {
  const answer = await host.act(io.env, ACTIONS.changed, {});
  return answer === null ? 'from the next start of hivebar on' : 'from now on';
}

export async function removeSource(name: string, io: Io, host: CommandHost): Promise<number> {
  const file = await host.editSettings(io.env);
  const removed = findConfigured(name, file);
  const rest = listConfigured(file).filter((source) => source !== removed);
  if (rest.length === 0) file.unset('sources');
  else file.set('sources', rest);
  io.out(`${name} is not watched, ${await follow(io, host)}; its event files stay\n`);
  return 0;
}

export async function restartSource(name: string, io: Io, host: CommandHost): Promise<number> {
  findConfigured(name, await host.editSettings(io.env));
  if ((await host.act(io.env, ACTIONS.restart, { source: name })) === null) {
    io.err('hivebar is not running: start it with `hivebar`\n');
    return 1;
  }
  io.out(`${name} begins again\n`);
  return 0;
}
