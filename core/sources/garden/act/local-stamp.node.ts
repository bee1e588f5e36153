import type { Instant } from '../../../model/index.ts';

/** `YYYYMMDDTHHMMSS` in the time zone of this machine (garden contract 1). */
export function formatLocalStamp(at: Instant): string {
  const then = new Date(at);
  const date = `${pad(then.getFullYear(), 4)}${pad(then.getMonth() + 1, 2)}${pad(then.getDate(), 2)}`;
  return `${date}T${pad(then.getHours(), 2)}${pad(then.getMinutes(), 2)}${pad(then.getSeconds(), 2)}`;
}

function pad(n: number, width: number): string {
  return String(n).padStart(width, '0');
}
