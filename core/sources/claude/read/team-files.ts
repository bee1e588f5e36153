import { parseJson } from '../../../model/index.ts';

/** A member as the `config.json` of its team has it (contract 2). */
export interface TeamMember {
  readonly name: string;
  readonly model: string | null;
  readonly cwd: string | null;
  /** `%7`, or a word. */
  readonly tmuxPaneId: string | null;
}

export interface TeamConfig {
  readonly leadSessionId: string;
  readonly members: readonly TeamMember[];
}

/** @returns null for anything but a team @throws SyntaxError for half a file, also an empty one */
export function parseTeamConfig(text: string): TeamConfig | null {
  const value = parseJson(text) as { readonly leadSessionId?: unknown; readonly members?: unknown } | null;
  const leadSessionId = value?.leadSessionId;
  if (typeof leadSessionId !== 'string' || !/^[\dA-Za-z][\dA-Za-z-]{7,63}$/.test(leadSessionId)) return null;
  const members = Array.isArray(value?.members) ? (value.members as readonly unknown[]) : [];
  return {
    leadSessionId,
    members: members.slice(0, MOST_MEMBERS).flatMap((member): TeamMember[] => {
      if (typeof member !== 'object' || member === null) return [];
      const { name, model, cwd, tmuxPaneId } = member as Readonly<Record<string, unknown>>;
      const base = { model: toText(model), cwd: toText(cwd), tmuxPaneId: toText(tmuxPaneId) };
      return typeof name === 'string' && name !== '' ? [{ name, ...base }] : [];
    }),
  };
}

const MOST_MEMBERS = 500;

/** What a message is to a person: prose, or a question. */
export type MessageKind = 'mail' | 'permission' | 'plan' | 'sandbox';

/** A message in an inbox, as it was written. */
export interface TeamMessage {
  readonly key: string;
  readonly kind: MessageKind;
  readonly from: string;
  readonly text: string;
  readonly summary: string | null;
  /** As the writer says. */
  readonly created: string | null;
  readonly isRead: boolean;
}

const KINDS: ReadonlyMap<string, MessageKind> = new Map([
  ['permission_request', 'permission'],
  ['plan_approval_request', 'plan'],
  ['sandbox_permission_request', 'sandbox'],
]);

/** Text that is a JSON object with a `type` is of the programs. Null: it concerns them alone, such as a sign that a member is idle. */
export function readKind(text: string): MessageKind | null {
  const type = parseTyped(text)?.type;
  return typeof type !== 'string' ? 'mail' : (KINDS.get(type) ?? null);
}

/** The object in the text of an entry; null for prose. */
export function parseTyped(text: string): Readonly<Record<string, unknown>> | null {
  if (!/^\s*\{/.test(text)) return null;
  try {
    const value = parseJson(text);
    return typeof value === 'object' && value !== null && 'type' in value ? { ...value } : null;
  } catch {
    return null; // prose that begins with a brace
  }
}

export const toText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
