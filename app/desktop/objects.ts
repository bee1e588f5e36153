import type { BusReply, IncomingBusCall } from './bus-connection.node.ts';
import type { BusInterface, Variant } from './session-bus.ts';

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
export function buildIntrospection(interfaces: readonly BusInterface[]): string {
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
