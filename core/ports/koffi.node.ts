import { createRequire } from 'node:module';

type Koffi = typeof import('koffi');
let loaded: Koffi | undefined;

/** The way to functions of the C library. Loaded when it is first asked for: a process that needs none does not carry it. */
export function loadKoffi(): Koffi {
  loaded ??= createRequire(import.meta.url)('koffi') as Koffi;
  return loaded;
}

/** The same for who can do without: null in a process that did not have to load it. */
export function findLoadedKoffi(): Koffi | null {
  return loaded ?? null;
}
