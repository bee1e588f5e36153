import { displayName } from '../../core/format/index.ts';
import { parseIso } from '../../core/model/index.ts';
import type { PollTally } from './health-routes.ts';
import type { PersonaWire, StatusWire } from './wire.ts';

/** One metric as a scrape shows it. A metric without samples is left out: an unknown value is absent, never 0. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  readonly samples: readonly ScrapeSample[];
}

export interface ScrapeSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Numbers about the process itself. */
export interface ProcessFigures {
  readonly node: string;
  readonly startedAtSeconds: number;
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly heapUsedBytes: number;
}

const AGENT_STATES = ['working', 'waiting', 'idle', 'live', 'stalled', 'gone', 'unknown'] as const;

/** Numbers of current readers. */
export interface ReaderFigures {
  readonly streams: number;
  readonly holds: number;
}

/**
 * Converts the status to Prometheus metrics. They are numbers of the same status that `/status.json` shows, so both agree at any
 * moment. Hidden personas have series of their own and are left out of the sums, as they are there.
 */
export function toMetrics(options: {
  readonly status: StatusWire;
  readonly tally: PollTally;
  readonly readers: ReaderFigures;
  readonly figures: ProcessFigures;
}): readonly Metric[] {
  const { status, tally, readers, figures } = options;
  const { personas, totals } = status;
  const visible = personas.filter(({ hidden }) => !hidden);
  const each = (value: (persona: PersonaWire) => number | null): readonly ScrapeSample[] =>
    personas.flatMap((persona) => toSamples(value(persona), toLabels(persona)));
  const metrics: readonly Metric[] = [
    createGauge('hivebar_build_info', 'Always 1; the version is in the labels.', [
      { labels: { version: status.version, node: figures.node }, value: 1 },
    ]),
    createGauge(
      'hivebar_personas',
      'Personas that are not hidden, by state.',
      (['UP', 'DOWN', 'PENDING', 'OFF'] as const).map((state) => ({
        labels: { state },
        value: visible.filter((persona) => persona.state === state).length,
      })),
    ),
    createGauge(
      'hivebar_agents',
      'Agents of personas that are not hidden, by what they do; agents of which nobody reports anything are unknown.',
      AGENT_STATES.map((state) => ({
        labels: { state },
        value: visible.filter((persona) => persona.agent === state).length,
      })),
    ),
    createGauge(
      'hivebar_agent_waiting_seconds',
      'How long an agent waits for a person, by what it waits for.',
      personas.flatMap((persona) =>
        persona.agent === 'waiting'
          ? toSamples(toSecondsBetween(persona.agentSince, status.generatedAt), {
              ...toLabels(persona),
              reason: displayName(persona.agentReason ?? '').slice(0, 100),
            })
          : [],
      ),
    ),
    createGauge('hivebar_unread', 'Unread messages of all personas that are not hidden.', toSamples(totals.unread)),
    createGauge(
      'hivebar_urgent',
      'Unread and urgent messages of all personas that are not hidden.',
      toSamples(totals.urgent),
    ),
    createGauge(
      'hivebar_persona_unread',
      'Unread messages of a persona.',
      each(({ unread }) => unread),
    ),
    createGauge(
      'hivebar_persona_unread_exact',
      '1: the unread count is exact; 0: it is a lower bound.',
      each(({ unreadIs }) => (unreadIs === 'unknown' ? null : Number(unreadIs === 'exact'))),
    ),
    createGauge(
      'hivebar_persona_urgent',
      'Unread and urgent messages of a persona.',
      each(({ urgent }) => urgent),
    ),
    createGauge('hivebar_persona_up', '1: the inbox can be read; 0: it is down.', each(toUpValue)),
    createGauge(
      'hivebar_persona_seen_timestamp_seconds',
      'Time when the numbers of a persona were read.',
      each(({ asOf }) => toEpochSeconds(asOf)),
    ),
    createGauge(
      'hivebar_persona_stale_timestamp_seconds',
      'Time after which the numbers of a persona are stale unless newer ones arrive.',
      each(({ staleAfter }) => toEpochSeconds(staleAfter)),
    ),
    createGauge(
      'hivebar_hive_up',
      '1: the hive answers; 0: it is down.',
      status.hives.flatMap((hive) => toSamples(toUpValue(hive), { source: displayName(hive.source) })),
    ),
    createGauge(
      'hivebar_causes',
      'Open outages, by scope.',
      (['persona', 'source', 'machine'] as const).map((scope) => ({
        labels: { scope },
        value: status.causes.filter((cause) => cause.scope === scope).length,
      })),
    ),
    createGauge(
      'hivebar_persona_pending',
      'Unread messages of a persona of this machine, by priority.',
      personas.flatMap((persona) =>
        (persona.pending ?? []).map((value, priority) => ({
          labels: { ...toLabels(persona), priority: String(priority) },
          value,
        })),
      ),
    ),
    createGauge(
      'hivebar_persona_gates',
      'Open gates of a persona of this machine, by mode.',
      personas.flatMap((persona) =>
        persona.pending === null
          ? []
          : (['strict', 'soft'] as const).map((mode) => ({
              labels: { ...toLabels(persona), mode },
              value: persona.gates.filter((gate) => gate.mode === mode).length,
            })),
      ),
    ),
    createGauge('hivebar_decisions', 'Open decisions that agents ask of people.', toSamples(status.decisions.length)),
    createGauge('hivebar_stream_readers', 'Readers of the event stream.', toSamples(readers.streams)),
    createGauge('hivebar_holds', 'Requests that wait for an event.', toSamples(readers.holds)),
    createCounter('hivebar_looks_total', 'Polls of inboxes that succeeded.', toSamples(tally.polls)),
    createCounter('hivebar_look_failures_total', 'Polls of inboxes that failed.', toSamples(tally.failures)),
    createCounter(
      'hivebar_events_total',
      'Events that were delivered, by kind.',
      [...tally.events].map(([event, value]) => ({ labels: { event }, value })),
    ),
    createGauge('process_start_time_seconds', 'Time when the process started.', toSamples(figures.startedAtSeconds)),
    createCounter('process_cpu_seconds_total', 'CPU time of the process.', toSamples(figures.cpuSeconds)),
    createGauge('process_resident_memory_bytes', 'Resident memory of the process.', toSamples(figures.residentBytes)),
    createGauge('nodejs_heap_size_used_bytes', 'Memory of live objects.', toSamples(figures.heapUsedBytes)),
  ];
  return metrics.filter((metric) => metric.samples.length > 0);
}

function createGauge(name: string, help: string, metricSamples: readonly ScrapeSample[]): Metric {
  return { name, help, type: 'gauge', samples: metricSamples };
}

function createCounter(name: string, help: string, metricSamples: readonly ScrapeSample[]): Metric {
  return { name, help, type: 'counter', samples: metricSamples };
}

function toSamples(value: number | null, labels: ScrapeSample['labels'] = {}): readonly ScrapeSample[] {
  return value === null ? [] : [{ labels, value }];
}

function toUpValue({ state }: { readonly state: PersonaWire['state'] }): number | null {
  if (state === 'UP') return 1;
  return state === 'DOWN' ? 0 : null;
}

function toLabels(persona: PersonaWire): { readonly persona: string; readonly source: string } {
  return { persona: toPersonaLabel(persona), source: displayName(persona.source) };
}

/** Other programs choose a name, and it may have any length. The stem is bounded and unique, too. */
function toPersonaLabel({ id, stem }: PersonaWire): string {
  return id.length <= 200 ? displayName(id) : stem;
}

function toSecondsBetween(from: string | null, to: string): number | null {
  const [begin, end] = [toEpochSeconds(from), toEpochSeconds(to)];
  return begin === null || end === null ? null : Math.max(0, end - begin);
}

function toEpochSeconds(time: string | null): number | null {
  const at = time === null ? null : parseIso(time);
  return at === null ? null : at / 1000;
}
