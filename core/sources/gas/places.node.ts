import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { findProgram } from '../../ports/index.ts';
import { findOwnHome } from '../../state/index.ts';
import { CITY_ADDRESS, type GasSettings } from './settings.ts';

export interface GasPlaces {
  /** Where the supervisor of Gas City listens. */
  readonly city: string;
  /** The settings name it, so that it is on the board also when nothing answers there. */
  readonly isCityNamed: boolean;
  /** The folder of Gas Town, absolute. */
  readonly town: string;
}

/** Where these settings look. `~/...` and relative paths are below the home directory. */
export function resolveGasPlaces({ city, town = '~/gt' }: GasSettings['gas']): GasPlaces {
  const home = findOwnHome();
  return {
    city: (city ?? CITY_ADDRESS).replace(/\/+$/, ''),
    isCityNamed: city !== undefined,
    town: resolve(home, town === '~' ? home : town.replace(/^~\//, '')),
  };
}

/** Where programs are installed that the short PATH of a login session may lack. */
export const listProgramFolders = (): readonly string[] => [
  ...['.local/bin', 'go/bin', 'bin'].map((folder) => join(findOwnHome(), folder)),
  ...['/usr/local/bin', '/opt/homebrew/bin'],
];

/** The absolute path of `bd`, or null. */
export function findBd(env: Readonly<Record<string, string | undefined>>): string | null {
  return findProgram('bd', env, process.platform, listProgramFolders());
}

const KNOCK_MS = 500;

/** Whether somebody listens at an address, without a request and without the HTTP client. */
export function knock(address: string, signal: AbortSignal): Promise<boolean> {
  const { hostname, port, protocol } = new URL(address);
  return new Promise((done) => {
    const socket = connect({
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: Number(port || (protocol === 'https:' ? 443 : 80)),
    });
    const end = (isThere: boolean): void => {
      signal.removeEventListener('abort', abort);
      socket.destroy();
      done(isThere);
    };
    const abort = (): void => end(false);
    signal.addEventListener('abort', abort, { once: true });
    socket.setTimeout(KNOCK_MS, () => end(false));
    socket.on('connect', () => end(true));
    socket.on('error', () => end(false));
  });
}
