import { Fault } from '../../core/model/index.ts';
import {
  type Acted,
  type ActionClient,
  type ActionClientOptions,
  actionClient,
  actOn,
  type BrainclawOptions,
  readSeed,
  type Wish,
} from '../../core/sources/brainclaw/index.ts';
import type { Settings } from '../config/tray/index.ts';
import type { Machine } from './machine.ts';

export interface KeepActsOptions {
  readonly settings: Pick<Settings, 'brainclaw'>;
  /** Where brainclaw is, and who acts. */
  readonly here: Pick<ActionClientOptions, 'command' | 'env' | 'principal' | 'version'>;
  /** Those that are watched now. */
  readonly projects: () => readonly { readonly id: string; readonly root: string }[];
}

/** Brainclaw's servers, one a project, each from its first call on until nobody has called it for a while. */
export interface KeptActs extends AsyncDisposable {
  /** The one question at activation; null: the settings do not let anybody be asked (brainclaw contract 9). */
  seedOf(project: { readonly root: string }): BrainclawOptions['seed'];
  /** @throws Fault `actions-off`, `usage`, or what `actOn` throws */
  act(project: string, wish: Wish, signal: AbortSignal): Promise<Acted>;
}

export function keepActs(
  options: KeepActsOptions,
  { clock, log, stop }: Pick<Machine, 'clock' | 'log' | 'stop'>,
): KeptActs {
  const { settings, here, projects } = options;
  const isOn = settings.brainclaw.actions === true;
  const clients = new Map<string, ActionClient>();
  /** One project is asked after the other, and its server is gone then: there may be many at a start. */
  let seeds: Promise<unknown> = Promise.resolve();
  const clientOf = (root: string): ActionClient => {
    const client = clients.get(root) ?? actionClient({ ...here, root, clock, log });
    clients.set(root, client);
    return client;
  };
  return {
    seedOf({ root }) {
      if (!isOn) return null;
      return async () => {
        const client = clientOf(root);
        const seed = seeds.then(async () => await readSeed(client, root, log, stop));
        seeds = seed.then(() => client.rest());
        return await seed;
      };
    },
    async act(id, wish, signal) {
      if (!isOn) throw actionsOff(id);
      const project = projects().find((one) => one.id === id);
      if (project === undefined) throw fault('usage', `there is no project ${JSON.stringify(id)}`);
      const { root } = project;
      return await actOn(clientOf(root), root, wish, here.principal, AbortSignal.any([signal, stop]));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...clients.values()].map((client) => client[Symbol.asyncDispose]()));
    },
  };
}

const fault = (code: 'usage' | 'actions-off', what: string): Fault =>
  new Fault(code, what, { is: 'machine', key: 'brainclaw-action' });

/** Nothing is done to any project unless a person said that Hivebar may. */
export const actionsOff = (project: string): Fault =>
  fault('actions-off', `brainclaw.actions is not switched on in the settings, so nothing is done to ${project}`);
