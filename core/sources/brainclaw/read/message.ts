import { parseJson } from '../../../model/index.ts';
import { formatJson } from '../../text.ts';
import { isObject, type JsonFields } from './record.ts';
import { shortenText } from './trim.ts';

const TYPES = ['assign', 'review', 'rfc', 'info', 'reply'] as const;
/** The newest message schema that is known. */
const SCHEMA = 2;
const MOST_TYPE = 80;
const STATUSES = ['pending', 'read', 'acknowledged', 'archived'] as const;

/** A message to an agent (brainclaw contract 5). Missing fields are null. */
export interface AgentMessage {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** A known type, or the one that a store of a newer schema states. */
  readonly type: string;
  readonly status: (typeof STATUSES)[number];
  /** As long as the caller asked for. */
  readonly text: string;
  readonly requires_ack: boolean;
  readonly ref: string | null;
  readonly short_label: string | null;
  readonly thread_id: string | null;
  readonly claim_id: string | null;
  readonly assignment_id: string | null;
  /** UTC, as the writer states it. */
  readonly created_at: string;
  readonly updated_at: string | null;
}

/** `why` says to a person why a file is no message. It follows the name of the file. */
export type MessageRead =
  | { readonly is: 'message'; readonly message: AgentMessage }
  | { readonly is: 'refused'; readonly why: string };

/**
 * @param json the whole file
 * @param shorten returns the part of the text that is kept; a text has up to 131,072 characters, and older ones have more
 */
export function parseAgentMessage(json: string, shorten: (text: string) => string): MessageRead {
  let fields: unknown;
  try {
    fields = parseJson(json);
  } catch (error) {
    return createRefusal(`is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isObject(fields)) return createRefusal('is no object');
  const wrong = NEEDED.find((key) => !isNonEmptyText(fields[key]));
  if (wrong !== undefined) return createRefusal(`has no ${wrong}`);
  const type = parseType(fields);
  if (type === null) return createRefusal(`has type ${formatJson(fields.type)}, not one of ${TYPES.join(', ')}`);
  const status = STATUSES.find((candidate) => candidate === (fields.status ?? 'pending'));
  if (status === undefined)
    return createRefusal(`has status ${formatJson(fields.status)}, not one of ${STATUSES.join(', ')}`);
  const { id, from, to, text, requires_ack = false, created_at } = fields as Readonly<Record<string, string>>;
  if (typeof text !== 'string') return createRefusal('has no text');
  if (typeof requires_ack !== 'boolean') return createRefusal('has a requires_ack that is neither true nor false');
  return {
    is: 'message',
    message: {
      ...{ id: id ?? '', from: from ?? '', to: to ?? '', type, status, text: shorten(text), requires_ack },
      ...{ ref: findText(fields, 'ref'), short_label: findText(fields, 'short_label') },
      ...{ thread_id: findText(fields, 'thread_id'), claim_id: findText(fields, 'claim_id') },
      ...{ assignment_id: findText(fields, 'assignment_id'), created_at: created_at ?? '' },
      updated_at: findText(fields, 'updated_at'),
    },
  };
}

/**
 * A store of a newer schema may have types that are unknown here, and such mail still counts. In the known schema an unknown type
 * is a mistake.
 */
function parseType({ type, schema_version: schema }: JsonFields): string | null {
  if (typeof type !== 'string') return null;
  if (TYPES.some((known) => known === type)) return type;
  const isNewer = typeof schema === 'number' && schema > SCHEMA;
  return isNewer && type !== '' ? shortenText(type, MOST_TYPE) : null;
}

/** Nobody has read the message. */
export const isPending = ({ status }: AgentMessage): boolean => status === 'pending';

/** Somebody still has to do something about the message. */
export const isActionable = ({ status, requires_ack }: AgentMessage): boolean =>
  status === 'pending' || (status === 'read' && requires_ack);

const NEEDED = ['id', 'from', 'to', 'created_at'] as const;
const createRefusal = (why: string): MessageRead => ({ is: 'refused', why });
const isNonEmptyText = (value: unknown): boolean => typeof value === 'string' && value !== '';

function findText(fields: JsonFields, key: string): string | null {
  const value = fields[key];
  return typeof value === 'string' && value !== '' ? value : null;
}
