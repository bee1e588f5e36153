import { Fault } from '../../core/model/index.ts';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { findSourcePlaces, listReservedIds } from '../../core/sources/derived.ts';
import type { CommandHost, PersonaOnStatus } from '../../core/sources/module.ts';
import { findOwnDirs } from '../../core/state/dirs.node.ts';
import { createRealDisk, ensurePrivateDir } from '../../core/state/index.ts';
import { readVersion } from '../package.node.ts';
import { createLineOutput } from './nonblocking-io.node.ts';
import { createStderrLog, createStopSignal } from './process.node.ts';

const STDOUT = 1;

/** What the house gives to the commands of sources. The settings and what watches a reader are loaded when they are asked for. */
export const COMMAND_HOST: CommandHost = {
  version: readVersion(),
  createLog: createStderrLog,
  createStopSignal,
  async openOutput() {
    const { isReaderGone } = await import('../follow/index.ts');
    return { ...createLineOutput(), isReaderGone: () => isReaderGone(STDOUT) };
  },
  async readSettings(env) {
    const { openSettings } = await import('../config/tray/index.ts');
    return openSettings(findOwnDirs({ ...env }).config).settings;
  },
  async editSettings(env) {
    const { checkSettings, isSettingName, openSettings } = await import('../config/tray/index.ts');
    const { config } = findOwnDirs({ ...env });
    const file = openSettings(config);
    const toName = (name: string) => {
      if (isSettingName(name)) return name;
      throw createUsageFault(`there is no setting ${name}`);
    };
    return {
      settings: file.settings,
      check(name, value) {
        const checked = checkSettings(JSON.stringify({ ...file.explicitSettings, [name]: value }));
        if (checked.is === 'bad') throw createUsageFault(checked.problems[0].message);
      },
      set(name, value) {
        ensurePrivateDir(createRealDisk(silentLog), config);
        file.set(toName(name), value);
      },
      unset: (name) => file.unset(toName(name)),
    };
  },
  async act(env, action, params) {
    const { askTray } = await import('./tray-request.node.ts');
    const body = JSON.stringify(params);
    const response = await askTray({ method: 'POST', path: `/api/v1/actions/${action}`, body }, env, ACTION_MS);
    if (response.is === 'not-running') return null;
    const { parseReason } = await import('./act.ts');
    if (response.status !== 200) throw createUsageFault(`hivebar refused: ${parseReason(response.body)}`);
    return (JSON.parse(response.body) as { readonly result: object }).result;
  },
  async readPersonas(env) {
    const { askTray } = await import('./tray-request.node.ts');
    const response = await askTray({ method: 'GET', path: '/status.json', body: null }, env);
    if (response.is === 'not-running' || response.status !== 200) return null;
    return (JSON.parse(response.body) as { readonly personas: readonly PersonaOnStatus[] }).personas;
  },
  async findPlaces(env) {
    const { openSettings } = await import('../config/tray/index.ts');
    const { settings } = openSettings(findOwnDirs({ ...env }).config);
    return await findSourcePlaces(settings, {
      ...{ env, disk: createRealDisk(silentLog), clock: realClock, log: silentLog, version: readVersion() },
      ...{ reservedIds: listReservedIds(settings), stop: new AbortController().signal },
    });
  },
  async ask(question) {
    const { askPerson } = await import('./ask.node.ts');
    return await askPerson(question);
  },
};

/** A source that is ended may take some seconds. */
const ACTION_MS = 30_000;

function createUsageFault(message: string): Fault {
  return new Fault('usage', message, { is: 'machine', key: 'source' });
}
