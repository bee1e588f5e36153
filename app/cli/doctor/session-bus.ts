import { type Finding, missing, ok, skipped } from './finding.ts';

export interface SessionBusProbe {
  /** Whether the platform has D-Bus and something is shown over it. */
  readonly isWanted: boolean;
  readonly hasDisplay: boolean;
  readonly bus:
    | { readonly is: 'none' | 'gone'; readonly why: string }
    | { readonly is: 'connected'; readonly address: string };
}

export function judgeSessionBus({ isWanted, hasDisplay, bus }: SessionBusProbe): Finding {
  if (!isWanted) return skipped('nothing is shown over it here');
  if (bus.is === 'connected') return ok(bus.address);
  const next =
    bus.is === 'gone'
      ? "log out and in again: the session bus of this login has ended, or is another user's"
      : 'start Hivebar inside of a desktop session; where there is none: hivebar config set tray none, hivebar config set notifications false';
  return missing(hasDisplay, bus.is === 'none' ? `there is none: ${bus.why}` : bus.why, next);
}
