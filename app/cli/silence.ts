import { defineCommand, type ParsedValues, toUsageFault } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { act, createPersonaAction, ONE_PERSONA } from './act.ts';
import { parseLocalTime } from './local-time.node.ts';

/** How long something holds, as the actions take it; an empty object means forever. */
type PauseSpan = { readonly minutes: number } | { readonly until: 'tomorrow' } | Readonly<Record<string, never>>;

const MINUTES = { m: 1, h: 60, d: 24 * 60 } as const;
const MINUTE_MS = 60_000;

/** The flags that say how long something holds. */
const SPAN_FLAGS = {
  for: { type: 'string', value: '30m|1h|2d', completes: ['30m', '1h', '2d'], help: 'for how long' },
  until: {
    type: 'string',
    value: 'tomorrow|TIME',
    completes: ['tomorrow'],
    help: 'until when; TIME is, for example, 2026-06-20 or 2026-06-20T18:00',
  },
} as const;

type SpanFlags = Partial<Pick<ParsedValues<{ readonly flags: typeof SPAN_FLAGS }>, 'for' | 'until'>>;

/** @throws Fault `usage` that says what is wrong with the flags */
export function parseSpan(flags: SpanFlags, now: number): PauseSpan {
  if (flags.for !== undefined && flags.until !== undefined)
    throw toUsageFault(new Error('use only one of --for and --until'));
  if (flags.for !== undefined) {
    const [, count, unit] = /^(\d{1,6}(?:\.\d+)?)([mhd])$/.exec(flags.for) ?? [];
    const minutes = Number(count) * MINUTES[unit as keyof typeof MINUTES];
    if (!(minutes > 0))
      throw toUsageFault(new Error(`--for ${flags.for}: must be a duration, for example 30m, 1h or 2d`));
    return { minutes };
  }
  if (flags.until === undefined) return {};
  if (flags.until === 'tomorrow') return { until: 'tomorrow' };
  const at = parseLocalTime(flags.until);
  if (at === null)
    throw toUsageFault(new Error(`--until ${flags.until}: must be tomorrow, or a time such as 2026-06-20T18:00`));
  if (at <= now) throw toUsageFault(new Error(`--until ${flags.until} has passed`));
  return { minutes: (at - now) / MINUTE_MS };
}

/** Formats the span for a person: ` for 1h`, ` until tomorrow`, or the text for forever. */
function formatSpan(flags: SpanFlags, forever: string): string {
  if (flags.for !== undefined) return ` for ${flags.for}`;
  return flags.until === undefined ? forever : ` until ${flags.until}`;
}

export const mute = defineCommand(
  {
    name: 'mute',
    about: ['Shows no notifications of this persona. Its mail is still counted and its events are still written.'],
    positionals: ONE_PERSONA,
    flags: SPAN_FLAGS,
    examples: [
      { run: 'hivebar mute ada --for 1h', does: 'quiet for an hour' },
      { run: 'hivebar mute ada', does: 'quiet until hivebar unmute ada' },
    ],
  },
  async ({ persona, ...flags }, io) => {
    const span = parseSpan(flags, realClock.now());
    if ((await act(io, 'mute', { persona, ...span })) === null) return 1;
    io.out(`${displayName(persona)} is muted${formatSpan(flags, ' until it is unmuted')}\n`);
    return 0;
  },
);

export const unmute = createPersonaAction({
  name: 'unmute',
  about: ['Shows notifications of this persona again.'],
  does: 'show notifications again',
  done: (persona) => `${persona} is no longer muted`,
});

export const pause = defineCommand(
  {
    name: 'pause',
    about: ['Shows no notifications. Mail is still counted and events are still written.'],
    flags: SPAN_FLAGS,
    examples: [
      { run: 'hivebar pause --for 30m', does: 'quiet for half an hour' },
      { run: 'hivebar pause', does: 'quiet until hivebar resume' },
    ],
  },
  async (flags, io) => {
    if ((await act(io, 'pause', parseSpan(flags, realClock.now()))) === null) return 1;
    io.out(`notifications are paused${formatSpan(flags, ' until they are resumed')}\n`);
    return 0;
  },
);

export const resume = defineCommand(
  {
    name: 'resume',
    about: ['Ends a pause. Personas that are muted stay so.'],
    examples: [{ run: 'hivebar resume', does: 'show notifications again' }],
  },
  async (_values, io) => {
    if ((await act(io, 'resume', {})) === null) return 1;
    io.out('notifications are shown again\n');
    return 0;
  },
);

export const hide = createPersonaAction({
  name: 'hide',
  about: [
    'It is still watched and its event file is still written, but tray, page, totals and notifications leave it out.',
  ],
  does: 'leave ada out',
  done: (persona) => `${persona} is hidden`,
});

export const unhide = createPersonaAction({
  name: 'unhide',
  about: ['Tray, page, totals and notifications show it again.'],
  does: 'show ada again',
  done: (persona) => `${persona} is shown again`,
});
