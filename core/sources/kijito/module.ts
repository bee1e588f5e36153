import type { SourceModule } from '../module.ts';
import {
  checkKijitoSettings,
  KIJITO,
  KIJITO_SETTINGS,
  type KijitoSettings,
  listConfiguredHives,
  TOKEN_VARIABLE,
} from './settings.ts';

/** Hives that speak the Kijito inbox contract, over HTTP. */
export const kijito = {
  name: KIJITO,
  prefix: null,
  summary: 'hives that speak the Kijito inbox contract',
  settings: KIJITO_SETTINGS,
  checkSettings: checkKijitoSettings,
  listPrefixes: ({ hives = [] }) => hives.map(({ name }) => `${name}-`),
  secrets: [TOKEN_VARIABLE],
  findPrimary: async (host) => await (await import('./open.ts')).findPrimary(host),
  listAddresses: (settings) => listConfiguredHives(settings).map(({ base }) => base),
  findPlaces: async (settings) => (await import('./open.ts')).findHivePlaces(settings),
  open: async (settings, host) => (await import('./open.ts')).openKijito(settings, host),
  doctor: (settings) =>
    listConfiguredHives(settings).map((hive) => ({
      name: `hive ${hive.name}`,
      about: ['mail', 'banner'],
      run: async (context, signal) => (await import('./doctor.node.ts')).checkHiveAnswers(hive, context, signal),
    })),
} as const satisfies SourceModule<KijitoSettings>;
