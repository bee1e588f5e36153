import type { SourceHost, WatchedSource } from '../module.ts';
import { parseActionParams } from './action-schema.ts';
import { getActionClientOptions, resolveBrainclawPlaces } from './doctor.node.ts';
import { createProjectActionsService } from './project-actions-service.ts';
import { createProjectsService } from './projects-service.ts';
import type { BrainclawSettings } from './settings.ts';

/** Opens the search for projects. Each project that it finds is watched as a hive of its own. */
export function openBrainclaw(settings: BrainclawSettings, host: SourceHost): WatchedSource {
  const places = resolveBrainclawPlaces(settings.brainclaw);
  const actions = createProjectActionsService(
    { settings, clientOptions: getActionClientOptions(host.env, host.version), projects: () => projects.all() },
    host,
  );
  const projects = createProjectsService({ settings, places, createSeed: actions.createSeed }, host);
  return {
    hives: [],
    services: [projects],
    poll: projects.poll,
    projects: projects.all,
    act: async (_action, params, signal) => {
      const { project, request } = parseActionParams(params);
      return await actions.act(project, request, signal);
    },
    [Symbol.asyncDispose]: () => actions[Symbol.asyncDispose](),
  };
}
