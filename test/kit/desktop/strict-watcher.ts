import { openSessionBus } from '../../../app/desktop/index.ts';
import { realClock, silentLog } from '../../../core/ports/index.ts';

const NAME = 'org.kde.StatusNotifierWatcher';
const BUS_NAME = /^(:\d+\.\d+|[A-Za-z_-][A-Za-z0-9_-]*(\.[A-Za-z_-][A-Za-z0-9_-]*)+)$/;
const OBJECT_PATH = /^(\/[A-Za-z0-9_]+)+$/;

export interface StrictWatcher extends AsyncDisposable {
  /** Every argument of RegisterStatusNotifierItem that was accepted. */
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
}

/**
 * A StatusNotifierWatcher that takes what the specification allows and nothing else: one bus name, or one object path,
 * never both joined. It shows no icon.
 */
export async function startStrictWatcher(env: Readonly<Record<string, string>>): Promise<StrictWatcher> {
  const bus = await openSessionBus({ env, log: silentLog, clock: realClock });
  if (bus.is === 'none') throw new Error(bus.why);
  const accepted: string[] = [];
  const refused: string[] = [];
  bus.serve('/StatusNotifierWatcher', [
    {
      name: NAME,
      methods: {
        RegisterStatusNotifierItem: {
          in: 's',
          out: '',
          run: ([service]) => {
            const text = String(service);
            const fits = BUS_NAME.test(text) || OBJECT_PATH.test(text);
            (fits ? accepted : refused).push(text);
            if (!fits) throw new Error(`neither a bus name nor an object path: ${text}`);
            return [];
          },
        },
      },
      signals: { StatusNotifierHostRegistered: '' },
      properties: {
        RegisteredStatusNotifierItems: { signature: 'as', get: () => accepted },
        IsStatusNotifierHostRegistered: { signature: 'b', get: () => true },
        ProtocolVersion: { signature: 'i', get: () => 0 },
      },
    },
  ]);
  const dest = 'org.freedesktop.DBus';
  const ask = { dest, path: '/org/freedesktop/DBus', iface: dest, member: 'RequestName' };
  await bus.call({ ...ask, signature: 'su', body: [NAME, 4] });
  return { accepted, refused, [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose]() };
}
