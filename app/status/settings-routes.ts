import type { FastifyInstance } from 'fastify';
import { answerJson, HttpRefusal, requireToken } from './answer.ts';
import { parseBody, SETTINGS_BODY } from './queries.ts';
import type { SettingWire } from './wire.ts';

/** What came of a change: keys that apply now, and keys that differ from the start and need the next one. */
interface SettingsOutcome {
  readonly applied: readonly string[];
  readonly atNextStart: readonly string[];
}

/** The settings file, as its routes show and change it. */
export interface SettingsApi {
  /** Without secrets. @throws Fault `settings` */
  list(): readonly SettingWire[];
  /** Null: the default. @throws Fault `usage` with the words of `hivebar config set` */
  set(key: string, value: unknown): Promise<SettingsOutcome>;
  addHive(url: string, name: string | null): Promise<SettingsOutcome>;
  removeHive(name: string): Promise<SettingsOutcome>;
}

/** Shows every setting, and changes those that the page may change. */
export function registerSettingsRoutes(app: FastifyInstance, settings: SettingsApi): void {
  app.get('/api/v1/settings', async (request, reply) => {
    requireToken(request);
    return answerJson(reply, { settings: settings.list() });
  });
  app.post('/api/v1/settings', async (request, reply) => {
    requireToken(request);
    const { set, addHive, removeHive } = parseBody(request.body ?? {}, SETTINGS_BODY);
    if ([set, addHive, removeHive].filter((change) => change !== undefined).length !== 1)
      throw new HttpRefusal(400, 'usage', 'one change is needed', 'send one of set, addHive and removeHive');
    if (set !== undefined) return answerJson(reply, await settings.set(set.key, set.value ?? null));
    if (addHive !== undefined) return answerJson(reply, await settings.addHive(addHive.url, addHive.name ?? null));
    return answerJson(reply, await settings.removeHive(removeHive ?? ''));
  });
}
