import { Fault } from '../../model/index.ts';
import type { SourceHost } from '../module.ts';
import {
  type ActionClient,
  type ActionClientOptions,
  createActionClient,
  type ProjectActionResult,
  readSeed,
  runProjectAction,
} from './act/index.ts';
import type { ProjectActionRequest } from './action-schema.ts';
import type { BrainclawSettings } from './settings.ts';
import type { BrainclawOptions } from './source-poll.ts';

export interface ProjectActionsOptions {
  readonly settings: BrainclawSettings;
  /** Where brainclaw is, and who acts. */
  readonly clientOptions: Pick<ActionClientOptions, 'command' | 'env' | 'principal' | 'version'>;
  /** Lists the projects that are watched now. */
  readonly projects: () => readonly { readonly id: string; readonly root: string }[];
}

/** Runs the servers of brainclaw, one per project. Each runs from its first call until it has not been called for a while. */
export interface ProjectActionsService extends AsyncDisposable {
  /**
   * Returns the function that asks brainclaw once, when a project is activated. Null when the settings do not allow it (brainclaw
   * contract 9).
   */
  createSeed(project: { readonly root: string }): BrainclawOptions['seed'];
  /** @throws Fault `actions-off`, `usage`, or what `runProjectAction` throws */
  act(project: string, wish: ProjectActionRequest, signal: AbortSignal): Promise<ProjectActionResult>;
}

export function createProjectActionsService(
  options: ProjectActionsOptions,
  { clock, log, stop }: Pick<SourceHost, 'clock' | 'log' | 'stop'>,
): ProjectActionsService {
  const { settings, clientOptions, projects } = options;
  const isOn = settings.brainclaw.actions === true;
  const clients = new Map<string, ActionClient>();
  /**
   * The projects are asked one after the other, and each server ends before the next starts, because there may be many projects
   * at a start.
   */
  let seeds: Promise<unknown> = Promise.resolve();
  const getClient = (root: string): ActionClient => {
    const client = clients.get(root) ?? createActionClient({ ...clientOptions, root, clock, log });
    clients.set(root, client);
    return client;
  };
  return {
    createSeed({ root }) {
      if (!isOn) return null;
      return async () => {
        const client = getClient(root);
        const seed = seeds.then(async () => await readSeed(client, root, log, stop));
        seeds = seed.then(() => client.rest());
        return await seed;
      };
    },
    async act(id, wish, signal) {
      if (!isOn) throw createActionsOffFault(id);
      const project = projects().find((entry) => entry.id === id);
      if (project === undefined) throw createFault('usage', `there is no project ${JSON.stringify(id)}`);
      const { root } = project;
      return await runProjectAction(
        getClient(root),
        root,
        wish,
        clientOptions.principal,
        AbortSignal.any([signal, stop]),
      );
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...clients.values()].map((client) => client[Symbol.asyncDispose]()));
    },
  };
}

const createFault = (code: 'usage' | 'actions-off', message: string): Fault =>
  new Fault(code, message, { is: 'machine', key: 'brainclaw-action' });

/** Hivebar does nothing to a project unless a person allowed it. */
export const createActionsOffFault = (project: string): Fault =>
  createFault('actions-off', `brainclaw.actions is not switched on in the settings, so nothing is done to ${project}`);
