import { displayName } from '../../core/format/index.ts';
import { instantOfIso } from '../../core/model/index.ts';
import type { Tally } from './loops.ts';
import type { PersonaWire, StatusWire } from './wire.ts';

/** One metric as a scrape shows it. Without samples it is left out: what is not known is absent, never 0. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What the process says of itself. */
export interface ProcessFigures {
  readonly node: string;
  readonly startedAtSeconds: number;
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly heapUsedBytes: number;
}

/** Who reads now. */
export interface ReaderFigures {
  readonly streams: number;
  readonly holds: number;
}

/**
 * The status in the words of Prometheus: numbers of the same status that `/status.json` shows, so that both agree at any
 * moment. As there, personas that are hidden have their own series and are left out of the sums.
 */
export function metricsOf(of: {
  readonly status: StatusWire;
  readonly tally: Tally;
  readonly readers: ReaderFigures;
  readonly figures: ProcessFigures;
}): readonly Metric[] {
  const { status, tally, readers, figures } = of;
  const { personas, totals } = status;
  const shown = personas.filter(({ hidden }) => !hidden);
  const each = (value: (persona: PersonaWire) => number | null): readonly Sample[] =>
    personas.flatMap((persona) =>
      samples(value(persona), { persona: nameOf(persona), source: displayName(persona.source) }),
    );
  const all: readonly Metric[] = [
    gauge('hivebar_build_info', 'Always 1; the version is in the labels.', [
      { labels: { version: status.version, node: figures.node }, value: 1 },
    ]),
    gauge(
      'hivebar_personas',
      'Personas that are not hidden, by state.',
      (['UP', 'DOWN', 'PENDING', 'OFF'] as const).map((state) => ({
        labels: { state },
        value: shown.filter((persona) => persona.state === state).length,
      })),
    ),
    gauge('hivebar_unread', 'Unread messages of all personas that are not hidden.', samples(totals.unread)),
    gauge('hivebar_urgent', 'Unread and urgent messages of all personas that are not hidden.', samples(totals.urgent)),
    gauge(
      'hivebar_persona_unread',
      'Unread messages of a persona.',
      each(({ unread }) => unread),
    ),
    gauge(
      'hivebar_persona_unread_exact',
      '1: exactly so many are unread; 0: so many or more.',
      each(({ unreadIs }) => (unreadIs === 'unknown' ? null : Number(unreadIs === 'exact'))),
    ),
    gauge(
      'hivebar_persona_urgent',
      'Unread and urgent messages of a persona.',
      each(({ urgent }) => urgent),
    ),
    gauge('hivebar_persona_up', '1: the inbox can be read; 0: it is down.', each(upOf)),
    gauge(
      'hivebar_persona_seen_timestamp_seconds',
      'When the numbers of a persona were seen.',
      each(({ asOf }) => secondsOf(asOf)),
    ),
    gauge(
      'hivebar_persona_stale_timestamp_seconds',
      'From then on the numbers of a persona are old if nothing newer comes.',
      each(({ staleAfter }) => secondsOf(staleAfter)),
    ),
    gauge(
      'hivebar_hive_up',
      '1: the hive answers; 0: it is down.',
      status.hives.flatMap((hive) => samples(upOf(hive), { source: displayName(hive.source) })),
    ),
    gauge(
      'hivebar_causes',
      'Outages that go on, by what they are about.',
      (['persona', 'source', 'machine'] as const).map((scope) => ({
        labels: { scope },
        value: status.causes.filter((cause) => cause.scope === scope).length,
      })),
    ),
    gauge(
      'hivebar_persona_pending',
      'Unread messages of a persona of this machine, by priority.',
      personas.flatMap((persona) =>
        (persona.pending ?? []).map((value, priority) => ({
          labels: { persona: nameOf(persona), source: displayName(persona.source), priority: String(priority) },
          value,
        })),
      ),
    ),
    gauge(
      'hivebar_persona_gates',
      'Open gates of a persona of this machine, by mode.',
      personas.flatMap((persona) =>
        persona.pending === null
          ? []
          : (['strict', 'soft'] as const).map((mode) => ({
              labels: { persona: nameOf(persona), source: displayName(persona.source), mode },
              value: persona.gates.filter((gate) => gate.mode === mode).length,
            })),
      ),
    ),
    gauge('hivebar_decisions', 'What agents ask of people and nobody answered yet.', samples(status.decisions.length)),
    gauge('hivebar_stream_readers', 'Readers of the event stream.', samples(readers.streams)),
    gauge('hivebar_holds', 'Answers that wait for an event.', samples(readers.holds)),
    counter('hivebar_looks_total', 'Looks into inboxes that came back healthy.', samples(tally.looks)),
    counter('hivebar_look_failures_total', 'Looks into inboxes that failed.', samples(tally.failures)),
    counter(
      'hivebar_events_total',
      'Events that were told, by kind.',
      [...tally.events].map(([event, value]) => ({ labels: { event }, value })),
    ),
    gauge('process_start_time_seconds', 'When the process began.', samples(figures.startedAtSeconds)),
    counter('process_cpu_seconds_total', 'CPU time of the process.', samples(figures.cpuSeconds)),
    gauge('process_resident_memory_bytes', 'Resident memory of the process.', samples(figures.residentBytes)),
    gauge('nodejs_heap_size_used_bytes', 'Memory of live objects.', samples(figures.heapUsedBytes)),
  ];
  return all.filter((metric) => metric.samples.length > 0);
}

function gauge(name: string, help: string, of: readonly Sample[]): Metric {
  return { name, help, type: 'gauge', samples: of };
}

function counter(name: string, help: string, of: readonly Sample[]): Metric {
  return { name, help, type: 'counter', samples: of };
}

function samples(value: number | null, labels: Sample['labels'] = {}): readonly Sample[] {
  return value === null ? [] : [{ labels, value }];
}

function upOf({ state }: { readonly state: PersonaWire['state'] }): number | null {
  if (state === 'UP') return 1;
  return state === 'DOWN' ? 0 : null;
}

/** A name is another's text and may be of any length; the stem is bounded and no other persona's either. */
function nameOf({ id, stem }: PersonaWire): string {
  return id.length <= 200 ? displayName(id) : stem;
}

function secondsOf(time: string | null): number | null {
  const at = time === null ? null : instantOfIso(time);
  return at === null ? null : at / 1000;
}
