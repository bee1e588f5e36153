import { type ParsedValues, toUsageFault } from '../../core/command/index.ts';
import { parseLocalTime } from './local-time.node.ts';

/** How long something holds, as the actions take it; an empty object means forever. */
export type PauseSpan = { readonly minutes: number } | { readonly until: 'tomorrow' } | Readonly<Record<string, never>>;

const MINUTES = { m: 1, h: 60, d: 24 * 60 } as const;
const MINUTE_MS = 60_000;

/** The flags that say how long something holds. */
export const SPAN_FLAGS = {
  for: { type: 'string', value: '30m|1h|2d', completes: ['30m', '1h', '2d'], help: 'for so long' },
  until: {
    type: 'string',
    value: 'tomorrow|TIME',
    completes: ['tomorrow'],
    help: 'until then; TIME as 2026-06-20 or 2026-06-20T18:00',
  },
} as const;

type SpanFlags = Partial<Pick<ParsedValues<{ readonly flags: typeof SPAN_FLAGS }>, 'for' | 'until'>>;

/** @throws Fault `usage` that says what is wrong with the flags */
export function parseSpan(flags: SpanFlags, now: number): PauseSpan {
  if (flags.for !== undefined && flags.until !== undefined)
    throw toUsageFault(new Error('give only one of --for and --until'));
  if (flags.for !== undefined) {
    const [, count, unit] = /^(\d{1,6}(?:\.\d+)?)([mhd])$/.exec(flags.for) ?? [];
    const minutes = Number(count) * MINUTES[unit as keyof typeof MINUTES];
    if (!(minutes > 0)) throw toUsageFault(new Error(`--for ${flags.for}: say how long, as 30m, 1h or 2d`));
    return { minutes };
  }
  if (flags.until === undefined) return {};
  if (flags.until === 'tomorrow') return { until: 'tomorrow' };
  const at = parseLocalTime(flags.until);
  if (at === null) throw toUsageFault(new Error(`--until ${flags.until}: say tomorrow, or a time as 2026-06-20T18:00`));
  if (at <= now) throw toUsageFault(new Error(`--until ${flags.until}: that has passed`));
  return { minutes: (at - now) / MINUTE_MS };
}

/** Formats the span for a person: ` for 1h`, ` until tomorrow`, or the text for forever. */
export function formatSpan(flags: SpanFlags, forever: string): string {
  if (flags.for !== undefined) return ` for ${flags.for}`;
  return flags.until === undefined ? forever : ` until ${flags.until}`;
}
