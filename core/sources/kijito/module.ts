import type { SourceModule } from '../module.ts';
import { checkKijitoSettings, KIJITO, KIJITO_SETTINGS, type KijitoSettings, TOKEN_VARIABLE } from './settings.ts';

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
  open: async (settings, host) => (await import('./open.ts')).openKijito(settings, host),
} as const satisfies SourceModule<KijitoSettings>;
