import type { PersonaUptimeWire } from '../app/status/wire.ts';
import { formatShare } from '../core/format/index.ts';
import { ask } from './token.ts';

const SPANS = [
  ['24h', '24 h'],
  ['7d', '7 d'],
  ['30d', '30 d'],
] as const;
const TIMEOUT_MS = 5000;

/** Loads the uptime of an inbox, as `24 h 100%, 7 d 99.95%`. Null when nothing is known of it. */
export async function loadUptime(fragment: string): Promise<string | null> {
  const answer = await ask(`/api/v1/personas/${fragment}/uptime`, AbortSignal.timeout(TIMEOUT_MS));
  const { uptime } = (await answer.json()) as PersonaUptimeWire;
  const parts = SPANS.flatMap(([span, words]) => {
    const { up } = uptime[span];
    return up === null ? [] : [`${words} ${formatShare(up)}`];
  });
  return parts.length === 0 ? null : parts.join(', ');
}
