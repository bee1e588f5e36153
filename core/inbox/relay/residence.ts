import { type Instant, isoOf, parseJson } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import type { Link, Stored } from './link.ts';
import { MACHINES, machineSubject } from './names.ts';

export interface ResidenceOptions {
  /** This machine's name in the stream. */
  readonly machine: string;
  /** Who lives here, now. */
  readonly residents: () => readonly string[];
  /** Told of who lives on other machines and not here, with each look. */
  readonly setElsewhere: (names: ReadonlySet<string>) => void;
  readonly clock: Clock;
}

/** An announcement is repeated after so long, and one that is older than the second is of a machine that is no more. */
const REPEAT_MS = 86_400_000;
const LAPSES_MS = 7 * 86_400_000;

interface Announcement {
  readonly seq: number;
  readonly time: Instant;
  readonly personas: readonly string[];
}

/**
 * Who lives where, for one connection: each machine announces its residents in the stream, the newest announcement of a
 * machine counts, and a machine takes its older ones away. Returns a look, which announces what changed here and hears what
 * the others announced since the last one. A look rejects with what the link rejects with.
 */
export function openResidence(link: Link, options: ResidenceOptions): () => Promise<void> {
  const { machine, residents, setElsewhere, clock } = options;
  const machines = new Map<string, Announcement>();
  const own = machineSubject(machine);
  let seen = 0;

  async function hear(): Promise<void> {
    for (;;) {
      const next = await link.next(MACHINES, seen + 1);
      if (next === null) return;
      seen = next.seq;
      const before = machines.get(next.subject);
      machines.set(next.subject, announcementIn(next));
      if (next.subject === own && before !== undefined) await erase(before.seq);
    }
  }

  /** One that is gone already, or stays, does no harm: the newest counts. */
  async function erase(seq: number): Promise<void> {
    await link.erase(seq).catch(() => {});
  }

  async function announce(mine: readonly string[]): Promise<void> {
    const said = machines.get(own);
    if (said === undefined && mine.length === 0) return;
    const isSame = said !== undefined && JSON.stringify(said.personas) === JSON.stringify(mine);
    if (isSame && clock.now() - said.time < REPEAT_MS) return;
    const at = isoOf(clock.now());
    await link.publish(own, JSON.stringify({ personas: mine, at }), `${own}:${at}`);
    await hear();
  }

  return async () => {
    await hear();
    const mine = [...new Set(residents())].sort();
    await announce(mine);
    const here = new Set(mine);
    const fresh = [...machines].filter(([subject, { time }]) => subject !== own && clock.now() - time < LAPSES_MS);
    const names = fresh.flatMap(([, { personas }]) => personas);
    setElsewhere(new Set(names.filter((name) => !here.has(name))));
  };
}

/** What is no announcement names nobody. */
function announcementIn({ data, seq, time }: Stored): Announcement {
  try {
    const said = parseJson(Buffer.from(data).toString('utf8')) as { readonly personas?: unknown } | null;
    const personas: unknown[] = Array.isArray(said?.personas) ? said.personas : [];
    return { seq, time, personas: personas.filter((name): name is string => typeof name === 'string' && name !== '') };
  } catch {
    return { seq, time, personas: [] }; // whoever wrote it, it says nothing that can be understood
  }
}
