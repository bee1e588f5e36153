import { isDeepStrictEqual } from 'node:util';
import type { SettingName } from './settings.node.ts';
import { appliesAtNextStart, SETTINGS, type Settings } from './settings.ts';

/** What came of a changed settings file. */
export interface SettingsChange {
  /** The settings that changed, and apply now. */
  readonly applied: readonly SettingName[];
  /** The settings that differ from those of the start, and need the next one. */
  readonly atNextStart: readonly SettingName[];
}

/** The settings of a program that runs. */
export interface LiveSettings {
  /** Has the value of each setting that applies now, whenever it is read. */
  readonly now: Settings;
  /**
   * Reads the settings again and applies what can be applied. Changes come one after the other.
   * @throws Fault `settings` when the file has a mistake; then nothing has changed. Or what a listener throws, after all were called
   */
  reload(): Promise<SettingsChange>;
  /** Calls `hear` with the settings that apply now and are others. What it returns is waited for. */
  onChange(hear: (changed: ReadonlySet<SettingName>) => void | Promise<void>): Disposable;
}

const NAMES = Object.keys(SETTINGS.properties) as SettingName[];

/** @param read reads the settings file, with what the command line overrides. @throws Fault */
export function createLiveSettings(start: Settings, read: () => Settings): LiveSettings {
  let current = start;
  const now = {} as Settings;
  for (const name of NAMES) {
    const get = (): unknown => (appliesAtNextStart(name) ? start : current)[name];
    Object.defineProperty(now, name, { get, enumerable: true });
  }
  const listeners = new Set<(changed: ReadonlySet<SettingName>) => void | Promise<void>>();
  let turn: Promise<unknown> = Promise.resolve();

  async function apply(): Promise<SettingsChange> {
    const next = read();
    const isOther = (before: Settings) => (name: SettingName) => !isDeepStrictEqual(before[name], next[name]);
    const applied = NAMES.filter((name) => !appliesAtNextStart(name)).filter(isOther(current));
    const atNextStart = NAMES.filter(appliesAtNextStart).filter(isOther(start));
    current = next;
    const changed = new Set(applied);
    const failures: unknown[] = [];
    for (const hear of changed.size === 0 ? [] : [...listeners]) {
      try {
        await hear(changed);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return { applied, atNextStart };
  }

  return {
    now,
    reload() {
      const done = turn.then(apply);
      turn = done.catch(() => {}); // whoever asked for it gets the error
      return done;
    },
    onChange(hear) {
      listeners.add(hear);
      return { [Symbol.dispose]: () => void listeners.delete(hear) };
    },
  };
}
