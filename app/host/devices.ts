import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { displayName } from '../../core/format/index.ts';
import { Fault, type Instant } from '../../core/model/index.ts';
import type { Clock, Log, Random } from '../../core/ports/index.ts';
import { type Disk, readPrivate, writeAtomically } from '../../core/state/index.ts';

/** A browser that stays logged in until its key is revoked. */
export interface Device {
  /** Names the device in lists. It is no secret. */
  readonly id: string;
  /** The browser and its system, as it described itself at its login. */
  readonly name: string;
  readonly createdAt: Instant;
  /** The day on which its key was last used, as the moment of the first use on that day. */
  readonly lastUsedAt: Instant;
}

/** The devices of one user, in a file that only this user can read. It has the digests of their keys and no key. */
export interface Devices {
  list(): readonly Device[];
  /** Makes a device and returns its key, which is stored nowhere. */
  add(userAgent: string | undefined): { readonly key: string; readonly device: Device };
  /** Returns the device with this key, and notes the day of its use; null when it is none or was revoked. */
  find(key: string): Device | null;
  /**
   * Revokes these devices, at once for requests that run; `all` for every one. Returns those that were there.
   * @throws Fault when it cannot be stored: then they are refused until the next start only
   */
  revoke(ids: readonly string[] | 'all'): readonly Device[];
  /** Calls `hear` with the id of each device that is revoked. */
  onRevoked(hear: (id: string) => void): Disposable;
}

export interface DevicesNeeds {
  readonly disk: Disk;
  readonly random: Random;
  readonly clock: Clock;
  readonly log: Log;
}

interface StoredDevice extends Device {
  /** SHA-256 of the key. */
  readonly digest: string;
}

const FILE = 'devices.json';
const KEY_BYTES = 32;
/** The most devices. For a further one, the device is removed that was not used for longest. */
const MOST_DEVICES = 50;
const MOST_BYTES = 256 * 1024;
const MOST_NAME = 60;
const DAY_MS = 86_400_000;

/**
 * Opens the devices in a state directory. A file that is damaged is reported and replaced by the next login, because a device whose
 * digest cannot be read is logged out, and one-time links still work.
 */
export function openDevices(directory: string, needs: DevicesNeeds): Devices {
  const { disk, random, clock, log } = needs;
  const path = join(directory, FILE);
  /** By digest, so that the time of a look-up reveals nothing about a key. */
  const devices = new Map(readDevices(path, needs).map((device) => [device.digest, device]));
  const listeners = new Set<(id: string) => void>();

  const save = (): void => writeAtomically(disk, random, path, `${JSON.stringify([...devices.values()], null, 1)}\n`);
  const saveIfPossible = (): void => {
    try {
      save();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      log.warn(`a login lasts until the next start only: ${error.explain()}`);
    }
  };
  const drop = (device: StoredDevice): void => {
    devices.delete(device.digest);
    for (const hear of listeners) hear(device.id);
  };

  return {
    list: () => [...devices.values()].map(toDevice),
    add(userAgent) {
      const byUse = [...devices.values()].sort((a, b) => a.lastUsedAt - b.lastUsedAt);
      for (const device of byUse.slice(0, Math.max(0, devices.size - MOST_DEVICES + 1))) drop(device);
      const key = random.hex(KEY_BYTES);
      const now = clock.now();
      const times = { createdAt: now, lastUsedAt: now };
      const device = { id: random.hex(4), name: describeBrowser(userAgent), ...times, digest: hashKey(key) };
      devices.set(device.digest, device);
      saveIfPossible();
      return { key, device: toDevice(device) };
    },
    find(key) {
      const known = devices.get(hashKey(key));
      if (known === undefined) return null;
      const now = clock.now();
      if (toDay(now) !== toDay(known.lastUsedAt)) {
        devices.set(known.digest, { ...known, lastUsedAt: now });
        saveIfPossible();
      }
      return toDevice(known);
    },
    revoke(ids) {
      const revoked = [...devices.values()].filter(({ id }) => ids === 'all' || ids.includes(id));
      for (const device of revoked) drop(device);
      if (revoked.length > 0) save();
      return revoked.map(toDevice);
    },
    onRevoked(hear) {
      listeners.add(hear);
      return { [Symbol.dispose]: () => void listeners.delete(hear) };
    },
  };
}

function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('base64');
}

function toDay(at: Instant): number {
  return Math.floor(at / DAY_MS);
}

function toDevice({ id, name, createdAt, lastUsedAt }: StoredDevice): Device {
  return { id, name, createdAt, lastUsedAt };
}

function readDevices(path: string, { disk, log }: DevicesNeeds): StoredDevice[] {
  try {
    const bytes = readPrivate(disk, path, MOST_BYTES);
    if (bytes === null) return [];
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    if (Array.isArray(value)) return value.filter(isStoredDevice);
    log.warn(`${path} has no list of devices: browsers have to log in again`);
  } catch (error) {
    if (!(error instanceof Fault || error instanceof SyntaxError)) throw error;
    log.warn(`${path} cannot be read, so browsers have to log in again: ${error.message}`);
  }
  return [];
}

function isStoredDevice(value: unknown): value is StoredDevice {
  if (typeof value !== 'object' || value === null) return false;
  const { id, name, createdAt, lastUsedAt, digest } = value as Record<string, unknown>;
  const texts = [id, name, digest].every((text) => typeof text === 'string');
  return texts && [createdAt, lastUsedAt].every((at) => Number.isFinite(at));
}

/** The first that matches names the browser: others put the names of their ancestors behind their own. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\bHeadlessChrome\//, 'Chrome without a window'],
  [/\b(Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** Describes a browser by its header `User-Agent`, which is a claim: another text is cut, and shown with its odd characters by number. */
export function describeBrowser(userAgent: string | undefined): string {
  const given = userAgent?.trim() ?? '';
  if (given === '') return 'a program that does not say its name';
  const browser = BROWSERS.find(([pattern]) => pattern.test(given))?.[1];
  const system = SYSTEMS.find(([pattern]) => pattern.test(given))?.[1];
  if (browser === undefined) return displayName([...given].slice(0, MOST_NAME).join(''));
  return system === undefined ? browser : `${browser} on ${system}`;
}
