import { type DaemonConfig, type DaemonName, type DaemonPlaces, type DaemonStatus, LOCAL } from '../../link/index.ts';
import {
  exactly,
  Fault,
  type Instant,
  SOURCE_PREFIXES,
  type SourceId,
  UNKNOWN,
  VITAL_NOT_REPORTED,
} from '../../model/index.ts';
import type { Look, Persona, Source } from '../source.ts';
import { cut } from '../text.ts';
import { keepTimers } from '../timers.ts';
import { type Changes, watchDaemons } from './changes.ts';
import { type ExportingOptions, exporting } from './exporting.ts';
import { installedAs, namesIn } from './installed.ts';
import { type DaemonMetric, merged, newsIn } from './metrics.ts';
import { vitalOf, type Waits, waitsNow } from './vital.ts';

export interface PrismOptions extends ExportingOptions {
  /** Where daemons are installed. */
  readonly daemons: string;
  readonly placesOf: (daemon: DaemonName) => DaemonPlaces;
  /** Over the control socket. @throws Fault `daemon-gone` when nobody answers there */
  readonly ask: (places: DaemonPlaces, signal: AbortSignal) => Promise<DaemonStatus>;
  /** What a daemon said when it was looked at; null: it did not answer. */
  readonly said: (persona: Persona, status: DaemonStatus | null, at: Instant) => void;
  /** Calls with the name of whose inbox of the local hive changed. */
  readonly local?: (changed: (address: string) => void) => Disposable;
  readonly stalledAfterMs?: number;
}

/** The persona daemons of this machine as a source. */
export interface PrismSource extends Source {
  /** A daemon as a persona, also one that is not installed (any more). */
  named(name: string): Persona;
  /** What all of them export, in one exposition; a daemon that is gone is there with `daemon_up 0`. */
  metrics(): readonly DaemonMetric[];
}

export const PRISM: SourceId = 'prism';
interface Known {
  readonly config: DaemonConfig;
  /** Differs when it is installed in another way. */
  readonly text: string;
}

const WAKE_AFTER_MS = 20;
/** Its daemon hears of it as we do, and asks how many wait. */
const HEARD_AFTER_MS = 100;
/** A daemon that is connecting is asked again so soon. */
const AGAIN_MS = 2000;
const LABEL_CHARS = 80;

/**
 * Each persona daemon as a persona, read over its control socket: how many signals wait for it, and how it does. It has
 * levels and no messages: what waits is fetched by its surface, and told by the hive that it lies in.
 */
export function prismSource(options: PrismOptions): PrismSource {
  const { daemons, placesOf, ask, said, disk, clock, stalledAfterMs } = options;
  const exports = exporting(options);
  const labels = new Map<string, string>();
  const waits = new Map<string, Waits>();
  /** What of its export is worth a look. */
  const exported = new Map<string, string>();
  /** Who is installed, as of the last look, and how; null: not as it must be. */
  const there = new Map<string, Known | null>();
  let wasRead = false;
  let wakes: ((name: string) => void) | null = null;
  let changes: Changes | null = null;
  let watched: ReadonlyMap<string, DaemonPlaces | null> = new Map();
  const timers = keepTimers(clock);

  const named = (name: string): Persona => ({
    ...{ id: `${SOURCE_PREFIXES.prism}${name}`, address: name },
    label: labels.get(name) ?? name,
    isEcho: there.get(name)?.config.upstream === LOCAL, // its persona of the local hive has the same mail
  });

  function read(name: string): DaemonConfig | null {
    const config = installedAs(disk, daemons, name);
    if (config === null) forget(name);
    else {
      labels.set(name, labelOf(config));
      const text = JSON.stringify(config);
      if (there.get(name)?.text !== text) there.set(name, { config, text });
    }
    return config;
  }

  /** By name; null for one whose configuration is none, which its look says. */
  function list(): ReadonlyMap<string, DaemonConfig | null> {
    const all = new Map<string, DaemonConfig | null>();
    const places = new Map<string, DaemonPlaces | null>();
    for (const name of namesIn(disk, daemons, PRISM)) {
      places.set(name, null); // its configuration may be on its way
      try {
        const config = read(name);
        if (config === null) continue;
        all.set(name, config);
        places.set(name, placesOf(config));
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        all.set(name, null);
        there.set(name, null);
      }
    }
    wasRead = true;
    for (const name of there.keys()) if (!all.has(name)) forget(name);
    watched = places;
    changes?.follow(watched);
    return all;
  }

  function forget(name: string): void {
    there.delete(name);
    for (const memory of [labels, waits, exported]) memory.delete(name);
    exports.forget(name);
  }

  /** One that is gone by then is not met anew: what it left behind may still move. */
  function soon(ms: number, name: string): void {
    timers.in(ms, name, () => {
      if (there.has(name)) wakes?.(name);
    });
  }

  /** Who came, who went, and who is installed in another way now. */
  function census(): void {
    const before = new Map(there);
    try {
      list();
    } catch {
      for (const name of before.keys()) wakes?.(name); // their looks say what is wrong
    }
    for (const [name, known] of there) if (before.get(name) !== known) wakes?.(name);
    for (const name of before.keys()) if (!there.has(name)) wakes?.(name);
  }

  /** A daemon writes every 10 s: it is only asked when as many wait as did not before, or something went wrong. */
  function hear(name: string): void {
    const known = there.get(name) ?? null;
    if (known === null) return;
    const now = newsIn(exports.of(known.config, placesOf(known.config)));
    if (now === exported.get(name)) return;
    exported.set(name, now);
    wakes?.(name);
  }

  function delivered(address: string): void {
    for (const [name, known] of there)
      if (known !== null && known.config.upstream === LOCAL && known.config.address === address)
        soon(HEARD_AFTER_MS, name);
  }

  async function look(persona: Persona, signal: AbortSignal): Promise<Look> {
    const name = persona.address;
    const none = { urgent: UNKNOWN, evidence: { is: 'level' } } as const;
    const config = read(name);
    if (config === null) return { ...none, at: clock.now(), unread: exactly(0), vital: VITAL_NOT_REPORTED };
    let status: DaemonStatus;
    try {
      status = await ask(placesOf(config), signal);
    } catch (error) {
      if (!signal.aborted) said(persona, null, clock.now());
      if (!config.paused || !(error instanceof Fault) || error.code !== 'daemon-gone') throw error;
      return { ...none, at: clock.now(), unread: UNKNOWN, vital: { is: 'gone', why: 'paused' } };
    }
    const at = clock.now();
    said(persona, status, at);
    const waiting = waitsNow(waits.get(name) ?? { is: 'never' }, status, at);
    waits.set(name, waiting);
    const { pending } = status;
    // It says so itself only with its next export, if its numbers differ then.
    if (!pending.fresh && wakes !== null) soon(AGAIN_MS, name);
    const unread = pending.fresh ? exactly(pending.count) : UNKNOWN;
    return { ...none, at, unread, vital: vitalOf(status, waiting, at, stalledAfterMs) };
  }

  return {
    id: PRISM,
    kind: 'prism-daemon',
    personas: async () => [...list().keys()].map(named),
    look: (persona, _from, signal) => look(persona, signal),
    isGone: ({ address }) => wasRead && !there.has(address),
    hints(wake) {
      wakes = wake;
      changes = watchDaemons(daemons, clock, {
        installed: () => timers.in(WAKE_AFTER_MS, 'installed', census),
        process: (name) => soon(WAKE_AFTER_MS, name),
        exported: hear,
      });
      changes.follow(watched);
      const local = options.local?.(delivered) ?? null;
      timers.in(WAKE_AFTER_MS, 'installed', census); // what came since they were listed
      return {
        [Symbol.dispose]() {
          wakes = null;
          local?.[Symbol.dispose]();
          changes?.[Symbol.dispose]();
          changes = null;
          timers[Symbol.dispose]();
        },
      };
    },
    named,
    metrics() {
      try {
        list();
      } catch {
        // what can not be listed is on the board; who was there is scraped as before
      }
      return merged(
        [...there.values()].flatMap((known) =>
          known === null ? [] : [exports.of(known.config, placesOf(known.config))],
        ),
      );
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** `<identity> · <project>`: a project may be a path, of which its folder says enough; it is cleaned and cut. */
function labelOf({ identity, project }: DaemonConfig): string {
  const folder = project.split(/[/\\]/).findLast((part) => part !== '') ?? project;
  const shown = folder.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '');
  return `${identity} · ${cut(shown, LABEL_CHARS)}`;
}
