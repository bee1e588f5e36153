import { createRequire } from 'node:module';

type Koffi = typeof import('koffi');
let loaded: Koffi | undefined;

/** Loads koffi, which calls functions of the C library. It is loaded at first use, so that other processes do not carry it. */
export function loadKoffi(): Koffi {
  loaded ??= createRequire(import.meta.url)('koffi') as Koffi;
  return loaded;
}

/** Returns koffi if the process has already loaded it, else null. */
export function findLoadedKoffi(): Koffi | null {
  return loaded ?? null;
}
