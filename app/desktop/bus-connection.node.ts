import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import type { DBusError, Message, MessageBus } from '@jellybrick/dbus-next';
import type { Clock } from '../../core/ports/index.ts';
import { type BusCall, BusError, type BusInterface, type BusSignal, type Variant } from './session-bus.ts';

/** A call from another program. */
interface IncomingBusCall {
  readonly sender: string;
  readonly path: string;
  readonly iface: string;
  readonly member: string;
  readonly signature: string;
  readonly body: readonly unknown[];
}

type BusReply =
  | {
      readonly is: 'ok';
      readonly signature: string;
      readonly body: readonly unknown[];
    }
  | { readonly is: 'error'; readonly name: string; readonly text: string };

export interface BusConnectionEvents {
  signal(signal: BusSignal & { readonly iface: string }): void;
  incoming(call: IncomingBusCall): BusReply;
  /** Called at most once, after `open` resolved. */
  lost(why: string): void;
}

/** One connection, from handshake to loss. */
export interface BusConnection {
  readonly uniqueName: string;
  /** @throws BusError */
  call(call: BusCall): Promise<readonly unknown[]>;
  emit(path: string, iface: string, member: string, signature: string, body: readonly unknown[]): void;
  /** Sends what was written, then closes. `lost` is not called. */
  close(): Promise<void>;
}

/** The D-Bus library, loaded only where there is a bus. */
export type DBusLibrary = typeof import('@jellybrick/dbus-next');

export const loadLibrary = (): Promise<DBusLibrary> => import('@jellybrick/dbus-next');

const CONNECT_MS = 5000;
const CALL_MS = 5000;
const NO_REPLY_EXPECTED = 1;
const SIGNAL = 4;

/**
 * Opens one connection, unless `stop` aborts first. The library loses calls when the socket closes, throws on a late write and
 * does not report the end of a connection. All of that is corrected here and nowhere else.
 * @throws BusError `gone`
 */
export async function openBusConnection(
  dbus: DBusLibrary,
  address: string,
  clock: Clock,
  events: BusConnectionEvents,
  stop: AbortSignal,
): Promise<BusConnection> {
  const bus = dbus.sessionBus({ busAddress: address });
  const pending = new Set<(error: BusError) => void>();
  let state: 'opening' | 'open' | 'over' = 'opening';

  const end = (why: string): void => {
    const before = state;
    state = 'over';
    getSocket(bus)?.destroy();
    for (const reject of pending) reject(new BusError('gone', why));
    pending.clear();
    if (before === 'open') events.lost(why);
  };

  await new Promise<void>((resolve, reject) => {
    const limit = clock.after(CONNECT_MS, () => fail(`no answer from the bus at ${address} in ${CONNECT_MS / 1000} s`));
    const cleanUp = (): void => {
      limit[Symbol.dispose]();
      stop.removeEventListener('abort', onAbort);
    };
    const fail = (why: string): void => {
      cleanUp();
      end(why);
      reject(new BusError('gone', why));
    };
    const onAbort = (): void => fail('stopped while connecting');
    stop.addEventListener('abort', onAbort, { once: true });
    (bus as EventEmitter).on('error', (error: Error) => {
      if (state === 'opening') fail(`cannot reach the bus at ${address}: ${error.message}`);
      else end(`bus connection failed: ${error.message}`);
    });
    bus.once('connect', () => {
      cleanUp();
      if (state !== 'opening') return;
      const socket = getSocket(bus);
      if (socket === undefined || socket.destroyed) return fail(`the bus at ${address} closed the connection`);
      socket.once('end', () => end('the bus closed the connection'));
      socket.once('close', () => end('the bus closed the connection'));
      state = 'open';
      resolve();
    });
  });

  bus.on('message', (message: Message) => {
    if (message.type !== SIGNAL) return;
    const { sender, path, member, body } = message;
    if (typeof sender !== 'string') return;
    events.signal({ sender, path, iface: message.interface, member, body });
  });

  bus.addMethodHandler((message: Message) => {
    const reply = events.incoming({
      sender: message.sender,
      path: message.path,
      iface: message.interface ?? '',
      member: message.member,
      signature: message.signature,
      body: message.body,
    });
    if ((message.flags & NO_REPLY_EXPECTED) === 0) {
      write(() =>
        bus.send(
          reply.is === 'ok'
            ? dbus.Message.newMethodReturn(message, reply.signature, [...reply.body])
            : dbus.Message.newError(message, reply.name, reply.text),
        ),
      );
    }
    return true;
  });

  const write = (send: () => void): void => {
    const socket = getSocket(bus);
    if (state !== 'open' || socket === undefined || !socket.writable) return; // `lost` reports it, or has reported it
    send();
  };

  return {
    uniqueName: bus.name ?? '',
    call: (call) =>
      sendCall(bus, dbus.Message, call, {
        clock,
        pending,
        isOpen: () => state === 'open',
      }),
    emit: (path, iface, member, signature, body) =>
      write(() => bus.send(dbus.Message.newSignal(path, iface, member, signature, [...body]))),
    close: () =>
      new Promise((resolve) => {
        const socket = getSocket(bus);
        if (state !== 'open' || socket === undefined) return resolve();
        state = 'over';
        socket.once('close', () => resolve());
        socket.end(() => socket.destroy());
        for (const reject of pending) reject(new BusError('gone', 'the connection was closed'));
        pending.clear();
      }),
  };
}

interface BusCallContext {
  readonly clock: Clock;
  readonly pending: Set<(error: BusError) => void>;
  isOpen(): boolean;
}

function sendCall(
  bus: MessageBus,
  make: typeof Message,
  call: BusCall,
  calls: BusCallContext,
): Promise<readonly unknown[]> {
  return new Promise((resolve, reject) => {
    const callName = `${call.iface}.${call.member} of ${call.dest}`;
    if (!calls.isOpen()) return reject(new BusError('gone', `${callName}: the bus is gone`));
    const ms = call.timeoutMs ?? CALL_MS;
    const done = (): void => {
      limit[Symbol.dispose]();
      calls.pending.delete(fail);
    };
    const fail = (error: BusError): void => {
      done();
      reject(error);
    };
    const limit = calls.clock.after(ms, () => fail(new BusError('time', `${callName}: no answer in ${ms} ms`)));
    calls.pending.add(fail);
    const message = new make({
      destination: call.dest,
      path: call.path,
      interface: call.iface,
      member: call.member,
      signature: call.signature ?? '',
      body: [...(call.body ?? [])],
    });
    bus.call(message).then(
      (reply) => {
        done();
        resolve(reply?.body ?? []);
      },
      (error: DBusError | Error) => {
        const name = 'type' in error ? error.type : null;
        fail(new BusError('answered', `${callName}: ${error.message || name}`, name));
      },
    );
  });
}

/** The library does not publish its socket, and has no other way to learn of its end. */
function getSocket(bus: MessageBus): Duplex | undefined {
  return (bus as unknown as { readonly _connection: { readonly stream?: Duplex } })._connection.stream;
}

const PROPERTIES = 'org.freedesktop.DBus.Properties';
const INTROSPECTABLE = 'org.freedesktop.DBus.Introspectable';
const PEER = 'org.freedesktop.DBus.Peer';

type VariantFactory = (signature: string, value: unknown) => Variant;

/**
 * Answers a call to one of our objects from its tables: the methods, and the standard interfaces that follow from the tables
 * (Properties, Introspectable, Peer; D-Bus specification, "Standard Interfaces").
 */
export function answerCall(
  call: IncomingBusCall,
  interfaces: readonly BusInterface[] | undefined,
  variant: VariantFactory,
): BusReply {
  if (call.iface === PEER && call.member === 'Ping') return createReply('', []);
  if (interfaces === undefined) return createErrorReply('UnknownObject', `no object ${call.path}`);
  if (call.iface === INTROSPECTABLE && call.member === 'Introspect')
    return createReply('s', [buildIntrospection(interfaces)]);
  if (call.iface === PROPERTIES) return answerProperties(call, interfaces, variant);
  const table = interfaces.find((i) => i.name === call.iface);
  if (table === undefined) return createErrorReply('UnknownInterface', `no interface ${call.iface} at ${call.path}`);
  const method = Object.hasOwn(table.methods, call.member) ? table.methods[call.member] : undefined;
  if (method === undefined) return createErrorReply('UnknownMethod', `no method ${call.iface}.${call.member}`);
  if (method.in !== call.signature) {
    return createErrorReply(
      'InvalidArgs',
      `${call.iface}.${call.member} takes '${method.in}', not '${call.signature}'`,
    );
  }
  try {
    return createReply(method.out, method.run(call.body, call.sender));
  } catch (error) {
    return createErrorReply('Failed', error instanceof Error ? error.message : String(error)); // the caller gets the error
  }
}

function answerProperties(
  call: IncomingBusCall,
  interfaces: readonly BusInterface[],
  variant: VariantFactory,
): BusReply {
  const [name, key] = call.body;
  const table = interfaces.find((i) => i.name === name)?.properties ?? {};
  const toVariant = (k: string): Variant | null => {
    const entry = Object.hasOwn(table, k) ? table[k] : undefined;
    return entry === undefined ? null : variant(entry.signature, entry.get());
  };
  switch (`${call.member} ${call.signature}`) {
    case 'GetAll s':
      return createReply('a{sv}', [Object.fromEntries(Object.keys(table).map((k) => [k, toVariant(k)]))]);
    case 'Get ss': {
      const value = toVariant(String(key));
      return value === null
        ? createErrorReply('UnknownProperty', `no property ${name}.${key}`)
        : createReply('v', [value]);
    }
    case 'Set ssv':
      return createErrorReply('PropertyReadOnly', `${name}.${key} can only be read`);
    default:
      return createErrorReply('InvalidArgs', `${call.iface}.${call.member} with '${call.signature}'`);
  }
}

function createReply(signature: string, body: readonly unknown[]): BusReply {
  return { is: 'ok', signature, body };
}

function createErrorReply(name: string, text: string): BusReply {
  return { is: 'error', name: `org.freedesktop.DBus.Error.${name}`, text };
}

/** Builds the XML form of the tables. Every name in it is a constant of ours, so nothing needs escaping. */
function buildIntrospection(interfaces: readonly BusInterface[]): string {
  const args = (signature: string, direction: string): string =>
    splitTypes(signature)
      .map((type) => `<arg type="${type}"${direction}/>`)
      .join('');
  const lines = interfaces.map((i) => {
    const methods = Object.entries(i.methods).map(
      ([name, m]) =>
        `<method name="${name}">${args(m.in, ' direction="in"')}${args(m.out, ' direction="out"')}</method>`,
    );
    const signals = Object.entries(i.signals).map(([name, s]) => `<signal name="${name}">${args(s, '')}</signal>`);
    const properties = Object.entries(i.properties).map(
      ([name, p]) => `<property name="${name}" type="${p.signature}" access="read"/>`,
    );
    return `<interface name="${i.name}">${[...methods, ...signals, ...properties].join('')}</interface>`;
  });
  return `<node>${lines.join('')}</node>`;
}

/** Splits `ia{sv}av` into `i`, `a{sv}`, `av`. */
export function splitTypes(signature: string): string[] {
  const types: string[] = [];
  let start = 0;
  let depth = 0;
  for (let i = 0; i < signature.length; i += 1) {
    const c = signature[i];
    if (c === '(' || c === '{') depth += 1;
    if (c === ')' || c === '}') depth -= 1;
    if (depth > 0 || c === 'a') continue;
    types.push(signature.slice(start, i + 1));
    start = i + 1;
  }
  return types;
}
