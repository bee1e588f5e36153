import { dirname } from 'node:path';
import { Fault } from '../../../model/index.ts';
import type { Disk } from '../../../state/index.ts';
import { formatJson } from '../../source-tools.ts';
import { createGardenFault } from '../settings.ts';
import {
  BACKENDS,
  type Backend,
  CAPABILITIES,
  type Capability,
  describeValue,
  parseFields,
  requireObject,
  requireOnlyKeys,
  requireText,
  type WakeMode,
} from './record.ts';
import { MOST_JSON, readOwners, readSmall } from './small-file.ts';

export type Capabilities = Readonly<Record<Backend, Capability>>;

const SUBJECT = 'capability registry';
const ENTRY_KEYS = ['wakeMode', 'deliveryLevel', 'nativeIdLabel'] as const;

/**
 * Parses `entwurf-capabilities.json`. It must hold exactly the four backends with exactly three keys each (garden contract 2).
 * @throws Fault `garden` that says what is wrong with the text
 */
export function parseCapabilities(json: string): Capabilities {
  const fields = parseFields(json, SUBJECT);
  if (fields.schemaVersion !== 1) {
    throw createGardenFault(
      `${SUBJECT} "schemaVersion" must be 1 (got ${describeValue(fields.schemaVersion)}).`,
      SUBJECT,
    );
  }
  requireOnlyKeys(fields, ['schemaVersion', 'backends'], SUBJECT);
  const entries = requireObject(fields.backends, `${SUBJECT} "backends" must be an object`, SUBJECT);
  const present = Object.keys(entries).sort().join(', ');
  const expected = [...BACKENDS].sort().join(', ');
  if (present !== expected)
    throw createGardenFault(`${SUBJECT} must cover exactly ${expected} (got ${present}).`, SUBJECT);
  return {
    'claude-code': parseCapability(entries['claude-code'], 'claude-code'),
    antigravity: parseCapability(entries.antigravity, 'antigravity'),
    codex: parseCapability(entries.codex, 'codex'),
    pi: parseCapability(entries.pi, 'pi'),
  };
}

export type CapabilitiesRead =
  | { readonly is: 'capabilities'; readonly capabilities: Capabilities }
  | { readonly is: 'absent' }
  | { readonly is: 'defect'; readonly why: string };

/** @throws Fault `unreadable` for a failure that is not about this file */
export function readCapabilities(disk: Disk, path: string): CapabilitiesRead {
  const file = readSmall(disk, path, MOST_JSON, readOwners(disk, dirname(path)));
  if (file.is === 'absent') return file;
  if (file.is === 'refused') return { is: 'defect', why: file.why };
  try {
    return { is: 'capabilities', capabilities: parseCapabilities(file.text) };
  } catch (error) {
    if (error instanceof Fault) return { is: 'defect', why: error.message };
    throw error;
  }
}

/** Where a registry differs from the built-in one, by which mail is judged here. */
export function findDrift(capabilities: Capabilities): readonly string[] {
  return BACKENDS.flatMap((backend) =>
    ENTRY_KEYS.flatMap((key) => {
      const [actual, builtIn] = [capabilities[backend][key], CAPABILITIES[backend][key]];
      return actual === builtIn ? [] : [`${backend}.${key} is ${formatJson(actual)}, here ${formatJson(builtIn)}`];
    }),
  );
}

function parseCapability(value: unknown, backend: Backend): Capability {
  const subject = `capability for "${backend}"`;
  const fields = requireObject(value, `${subject} must be an object`, subject);
  requireOnlyKeys(fields, ENTRY_KEYS, subject);
  return {
    wakeMode: parseWakeMode(fields.wakeMode, `${backend}.wakeMode`),
    deliveryLevel: requireText(fields.deliveryLevel, `${backend}.deliveryLevel`),
    nativeIdLabel: requireText(fields.nativeIdLabel, `${backend}.nativeIdLabel`),
  };
}

function parseWakeMode(value: unknown, field: string): WakeMode {
  if (value === 'self-fetch' || value === 'direct-inject') return value;
  throw createGardenFault(
    `capability "${field}" must be self-fetch | direct-inject (got ${describeValue(value)}).`,
    SUBJECT,
  );
}

/** The values of the usual message header. Anybody can write one, so it is shown and never trusted. */
export interface GardenEnvelope {
  readonly from: string;
  /** The text after `session:`, which begins with a garden id when the sender is a citizen. */
  readonly session: string;
  readonly at: string;
  readonly wantsReply: boolean;
  /** The text after the rule. */
  readonly text: string;
}

const FIRST = '[entwurf received ⟵]';
const LABELS = ['from', 'session', 'at', 'wants reply'] as const;
const RULE = '─'.repeat(40);
const LONGEST = 200;
/** The width of the longest label, with its colon. */
const WIDTH = 12;

/** Parses the header of six lines in front of a body (garden contract 2); null when the body does not begin with exactly that. */
export function parseEnvelope(body: string): GardenEnvelope | null {
  const lines = body.split('\n', 2 + LABELS.length);
  if (lines[0] !== FIRST || lines[1 + LABELS.length] !== RULE) return null;
  const [from, session, at, reply] = LABELS.map((label, index) => parseLabelled(lines[index + 1] ?? '', label));
  if (from == null || session == null || at == null || (reply !== 'yes' && reply !== 'no')) return null;
  const header = lines.join('\n').length + 1;
  return { from, session, at, wantsReply: reply === 'yes', text: body.slice(header) };
}

/**
 * A body with the usual header in front, so that its reader knows whom to answer. Characters that would break a line are removed.
 */
export function formatEnvelope({ text, ...head }: GardenEnvelope): string {
  const values = [head.from, head.session, head.at, head.wantsReply ? 'yes' : 'no'];
  const lines = LABELS.map((label, index) => {
    const value = [...(values[index] ?? '').toWellFormed()].filter(isPrintable).slice(0, LONGEST).join('');
    return `  ${`${label}:`.padEnd(WIDTH)} ${value}`;
  });
  return [FIRST, ...lines, RULE, text].join('\n');
}

/** The sender that a body names, without characters that could break a terminal or a spawn; null when it names none. */
export function parseSender(body: string): string | null {
  return parseEnvelope(body)?.from ?? null;
}

function parseLabelled(line: string, label: string): string | null {
  const start = `  ${label}:`;
  if (!line.startsWith(start)) return null;
  const value = [...line.slice(start.length).toWellFormed().trim()].filter(isPrintable).slice(0, LONGEST).join('');
  return value === '' ? null : value;
}

function isPrintable(character: string): boolean {
  return !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(character);
}
