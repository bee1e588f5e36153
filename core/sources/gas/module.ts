import { Fault } from '../../model/index.ts';
import type { SourceModule } from '../module.ts';
import { GAS, GAS_PREFIX, GAS_SETTINGS, type GasSettings } from './settings.ts';

/** The cities of Gas City and the town of Gas Town on this machine. */
export const gas = {
  name: GAS,
  prefix: GAS_PREFIX,
  summary: 'the mail of Gas City and Gas Town',
  settings: GAS_SETTINGS,
  texts: { 'city-stopped': 'the city is stopped', 'mail-not-taken': 'nobody takes its mail' },
  listAddresses: ({ gas: { is, city } }) => (is === 'off' || city === undefined ? [] : [city]),
  checkSettings({ gas: places }, rules) {
    if (places?.city === undefined) return [];
    try {
      rules.checkAddress(places.city);
      return [];
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return [{ at: '/gas/city', message: error.message }];
    }
  },
  findPlaces: async (settings, host) => await (await import('./open.ts')).findGasPlaces(settings, host),
  open: async (settings, host) => (await import('./open.ts')).openGas(settings, host),
  doctor: (settings) => [
    {
      name: GAS,
      about: ['mail'],
      hints: [],
      run: async (context, signal) => (await import('./doctor.node.ts')).checkGas(settings, context, signal),
    },
  ],
} as const satisfies SourceModule<GasSettings>;
