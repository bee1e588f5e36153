import { toUsageFault } from '../../../core/command/index.ts';
import { displayName } from '../../../core/format/index.ts';
import type { Fault } from '../../../core/model/index.ts';
import { TOOLS, type ToolDefinition } from './tools.ts';

/** What a client sent as the arguments of a tool, after the tool and the names of its arguments were checked. */
export interface ToolArguments {
  readonly tool: ToolDefinition;
  /** Undefined when it was left out. @throws Fault `usage` for anything but a whole number within the bounds of the schema */
  findNumber(name: string): number | undefined;
  /** False when it was left out. @throws Fault `usage` */
  isSet(name: string): boolean;
  /** @throws Fault `usage` when it is missing or blank */
  getText(name: string): string;
  /** Undefined when it was left out. @throws Fault `usage` for anything but ids of messages, up to `most` of them */
  findIds(name: string, most: number): readonly number[] | undefined;
  /** Undefined when it was left out. @throws Fault `usage` */
  findId(name: string): number | undefined;
  get(name: string): unknown;
}

const SHOWN_CHARS = 60;

/** @throws Fault `usage` for an unknown tool or argument, with those that exist */
export function parseToolArguments(name: string, given: unknown): ToolArguments {
  const tool = TOOLS.find((candidate) => candidate.name === name);
  if (tool === undefined)
    throw refuse(`there is no tool ${showValue(name)}: use ${TOOLS.map((known) => known.name).join(', ')}`);
  const values = new Map(Object.entries(given === undefined || given === null ? {} : toRecord(tool.name, given)));
  const { properties } = tool.inputSchema;
  for (const key of values.keys())
    if (!Object.hasOwn(properties, key))
      throw refuse(
        `${tool.name} has no argument ${showValue(key)}: it takes ${Object.keys(properties).join(', ') || 'none'}`,
      );
  const get = (key: string): unknown => values.get(key) ?? undefined;
  return {
    tool,
    get,
    findNumber(key) {
      const value = get(key);
      const minimum = Number(properties[key]?.minimum);
      const maximum = Number(properties[key]?.maximum);
      if (value === undefined) return undefined;
      if (typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum) return value;
      throw refuse(`${key} ${showValue(value)}: must be a whole number from ${minimum} to ${maximum}`);
    },
    isSet(key) {
      const value = get(key) ?? false;
      if (typeof value === 'boolean') return value;
      throw refuse(`${key} ${showValue(value)}: must be true or false`);
    },
    getText(key) {
      const value = get(key);
      if (value === undefined) throw refuse(`${tool.name}: ${key} is missing`);
      if (typeof value === 'string' && value.trim() !== '') return value;
      throw refuse(`${key} ${showValue(value)}: must be text`);
    },
    findIds(key, most) {
      const value = get(key);
      if (value === undefined) return undefined;
      if (!Array.isArray(value))
        throw refuse(`${key} ${showValue(value)}: must be a list of ids, as inbox_list gives them`);
      const ids = [...new Set<unknown>(value)];
      const wrong = ids.find((id) => !Number.isSafeInteger(id) || Number(id) < 1);
      if (wrong !== undefined) throw refuse(`${key} ${showValue(wrong)}: must be the id of a message, see inbox_list`);
      if (ids.length > most) throw refuse(`${key}: ${ids.length} ids are too many: read at most ${most} at once`);
      return ids.map(Number);
    },
    findId(key) {
      const value = get(key);
      if (value === undefined || (Number.isSafeInteger(value) && Number(value) > 0)) return value as number | undefined;
      throw refuse(`${key} ${showValue(value)}: must be the id of a message, see inbox_list`);
    },
  };
}

function toRecord(tool: string, given: unknown): Readonly<Record<string, unknown>> {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given as Record<string, unknown>;
  throw refuse(`${tool}: the arguments ${showValue(given)} must be an object`);
}

/** Formats a value of a client for an error message: one short line. */
export function showValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  const points = [...text.slice(0, 2 * SHOWN_CHARS + 2)];
  return displayName(points.length > SHOWN_CHARS ? `${points.slice(0, SHOWN_CHARS).join('')}...` : points.join(''));
}

export function refuse(message: string): Fault {
  return toUsageFault(new Error(message));
}
