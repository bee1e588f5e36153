import { dirname } from 'node:path';
import { Fault } from '../../../model/index.ts';
import type { Disk } from '../../../state/index.ts';
import { formatJson } from '../../text.ts';
import { gardenFault } from '../fault.ts';
import { BACKENDS, type Backend, CAPABILITIES, type Capability, type WakeMode } from './backends.ts';
import { described, fieldsOf, objectIn, onlyKeys, textIn } from './fields.ts';
import { MOST_JSON, ownersOf, readSmall } from './small-file.ts';

export type Capabilities = Readonly<Record<Backend, Capability>>;

const WHAT = 'capability registry';
const ENTRY_KEYS = ['wakeMode', 'deliveryLevel', 'nativeIdLabel'] as const;

/**
 * What `entwurf-capabilities.json` says of each backend: exactly the four, exactly three keys each (garden contract 2).
 * @throws Fault `garden` that says what is wrong with the text
 */
export function capabilitiesOf(json: string): Capabilities {
  const fields = fieldsOf(json, WHAT);
  if (fields.schemaVersion !== 1) {
    throw gardenFault(`${WHAT} "schemaVersion" must be 1 (got ${described(fields.schemaVersion)}).`, WHAT);
  }
  onlyKeys(fields, ['schemaVersion', 'backends'], WHAT);
  const entries = objectIn(fields.backends, `${WHAT} "backends" must be an object`, WHAT);
  const present = Object.keys(entries).sort().join(', ');
  const wanted = [...BACKENDS].sort().join(', ');
  if (present !== wanted) throw gardenFault(`${WHAT} must cover exactly ${wanted} (got ${present}).`, WHAT);
  return {
    'claude-code': capabilityIn(entries['claude-code'], 'claude-code'),
    antigravity: capabilityIn(entries.antigravity, 'antigravity'),
    codex: capabilityIn(entries.codex, 'codex'),
    pi: capabilityIn(entries.pi, 'pi'),
  };
}

export type CapabilitiesRead =
  | { readonly is: 'capabilities'; readonly capabilities: Capabilities }
  | { readonly is: 'absent' }
  | { readonly is: 'defect'; readonly why: string };

/** @throws Fault `unreadable` for what is not about this file */
export function readCapabilities(disk: Disk, path: string): CapabilitiesRead {
  const file = readSmall(disk, path, MOST_JSON, ownersOf(disk, dirname(path)));
  if (file.is === 'absent') return file;
  if (file.is === 'refused') return { is: 'defect', why: file.why };
  try {
    return { is: 'capabilities', capabilities: capabilitiesOf(file.text) };
  } catch (error) {
    if (error instanceof Fault) return { is: 'defect', why: error.message };
    throw error;
  }
}

/** Where a registry says something else than what is built in, by which mail is judged here. */
export function driftIn(capabilities: Capabilities): readonly string[] {
  return BACKENDS.flatMap((backend) =>
    ENTRY_KEYS.flatMap((key) => {
      const [said, builtIn] = [capabilities[backend][key], CAPABILITIES[backend][key]];
      return said === builtIn ? [] : [`${backend}.${key} is ${formatJson(said)}, here ${formatJson(builtIn)}`];
    }),
  );
}

function capabilityIn(value: unknown, backend: Backend): Capability {
  const what = `capability for "${backend}"`;
  const fields = objectIn(value, `${what} must be an object`, what);
  onlyKeys(fields, ENTRY_KEYS, what);
  return {
    wakeMode: wakeModeIn(fields.wakeMode, `${backend}.wakeMode`),
    deliveryLevel: textIn(fields.deliveryLevel, `${backend}.deliveryLevel`),
    nativeIdLabel: textIn(fields.nativeIdLabel, `${backend}.nativeIdLabel`),
  };
}

function wakeModeIn(value: unknown, field: string): WakeMode {
  if (value === 'self-fetch' || value === 'direct-inject') return value;
  throw gardenFault(`capability "${field}" must be self-fetch | direct-inject (got ${described(value)}).`, WHAT);
}
