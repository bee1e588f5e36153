import type { SessionBus } from '../../app/desktop/index.ts';

/** A call that a stand-in daemon received. */
export interface RecordedCall {
  readonly member: string;
  readonly args: readonly unknown[];
}

export interface StandInDaemon extends Disposable {
  /** Sends a signal of the daemon. */
  say(member: string, ...body: unknown[]): void;
}

/** D-Bus RequestName: no flags, and two of its answers. */
const QUEUE = 0;
const PRIMARY_OWNER = 1;
const ALREADY_OWNER = 4;

/** Starts a notification daemon with given capabilities, on a bus without one. It shows nothing and records every call. */
export async function startStandInDaemon(
  bus: SessionBus,
  capabilities: readonly string[],
  calls: { push(call: RecordedCall): unknown },
): Promise<StandInDaemon> {
  let id = 0;
  const notify = (args: readonly unknown[]): readonly unknown[] => {
    calls.push({ member: 'Notify', args });
    const replaces = args[1] as number;
    if (replaces !== 0) return [replaces];
    id += 1;
    return [id];
  };
  const close = (args: readonly unknown[]): readonly unknown[] => {
    calls.push({ member: 'CloseNotification', args });
    return [];
  };
  const served = bus.serve('/org/freedesktop/Notifications', [
    {
      name: 'org.freedesktop.Notifications',
      methods: {
        GetCapabilities: { in: '', out: 'as', run: () => [capabilities] },
        GetServerInformation: { in: '', out: 'ssss', run: () => ['stand-in', 'test', '1', '1.2'] },
        Notify: { in: 'susssasa{sv}i', out: 'u', run: notify },
        CloseNotification: { in: 'u', out: '', run: close },
      },
      signals: { ActionInvoked: 'us', NotificationClosed: 'uu', ActivationToken: 'us' },
      properties: {},
    },
  ]);
  const busPeer = { dest: 'org.freedesktop.DBus', path: '/org/freedesktop/DBus', iface: 'org.freedesktop.DBus' };
  const name = ['org.freedesktop.Notifications', QUEUE];
  // The previous owner may not have left yet: the bus sees the end of a connection a moment later.
  for (let isOurs = false; !isOurs; ) {
    const [answer] = await bus.call({ ...busPeer, member: 'RequestName', signature: 'su', body: name });
    isOurs = answer === PRIMARY_OWNER || answer === ALREADY_OWNER;
  }
  return {
    say: (member, ...body) => served.emit('org.freedesktop.Notifications', member, body),
    [Symbol.dispose]: () => served[Symbol.dispose](), // the bus releases the name with the connection
  };
}
