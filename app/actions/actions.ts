import { Ajv2020 } from 'ajv/dist/2020.js';
import type { XStatic } from 'typebox/schema';
import type { Until } from '../../core/board/index.ts';
import type { PermissionAnswer } from '../../core/hooks/index.ts';
import {
  type DecisionReply,
  type DecisionResult,
  LIMITS,
  parseReply,
  toDecisionJson,
} from '../../core/inbox/decisions/index.ts';
import { Fault, formatIso, type PersonaId } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { listSourceActions, type SourceName } from '../../core/sources/derived.ts';
import type { MarkReadSelection, Reply, ReplyResult } from '../../core/sources/index.ts';
import type { OpenResult } from '../open/index.ts';
import { formatSchemaErrors } from '../schema-error.ts';
import { computeTomorrowMorning, parseDateTime } from './local-time.node.ts';

/** A hundred years: nobody mutes for longer. */
const MOST_MINUTES = 52_560_000;

const closed = { type: 'object', additionalProperties: false } as const;
const PERSONA = { type: 'string', minLength: 1 } as const;
const MESSAGE = { type: 'integer', minimum: 1 } as const;
const NO_PARAMS = { ...closed, properties: {} } as const;
const PERSONA_PARAMS = { ...closed, properties: { persona: PERSONA }, required: ['persona'] } as const;
const OPTIONAL_PERSONA_PARAMS = { ...closed, properties: { persona: PERSONA } } as const;
const MESSAGE_PARAMS = {
  ...closed,
  properties: { persona: PERSONA, id: MESSAGE },
  required: ['persona', 'id'],
} as const;
const SWITCH_PARAMS = { ...closed, properties: { on: { type: 'boolean' } }, required: ['on'] } as const;
/** What fits into a frame of any source, and is more than anybody types. */
const MOST_REPLY_CHARS = 100_000;

const REPLY_PARAMS = {
  ...closed,
  properties: {
    persona: PERSONA,
    text: { type: 'string', minLength: 1, maxLength: MOST_REPLY_CHARS },
    /** What the system of the inbox calls the message that is answered. Absent: the text is for the agent of the persona. */
    message: { type: 'string', pattern: '^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,199}$' },
    subject: { type: 'string', minLength: 1, maxLength: 200 },
  },
  required: ['persona', 'text'],
} as const;
const OPEN_PARAMS = { ...closed, properties: { persona: PERSONA, activationToken: { type: 'string' } } } as const;

/** The name of a caller who has the token and gives no name. */
const OPERATOR = 'operator';

/** An answer has an option, text, or both. Text alone is guidance, unless the decision takes text or `acceptGuidance` is set. */
const ANSWER = {
  ...closed,
  properties: {
    decision: { type: 'integer', minimum: 1 },
    select: { type: 'string', minLength: 1 },
    text: { type: 'string', maxLength: LIMITS.text },
    acceptGuidance: { type: 'boolean' },
  },
  required: ['decision'],
} as const;

/** The secret of one prompt, and the answer. `from`: where the person answered, for the log. */
const PERMIT = {
  ...closed,
  properties: {
    permission: { type: 'string', minLength: 1, maxLength: 200 },
    answer: { enum: ['allow', 'deny', 'terminal'] },
    from: { enum: ['page', 'menu', 'notification', 'command line', 'program'] },
  },
  required: ['permission', 'answer'],
} as const;

/** How long: a number of `minutes`, or `until` tomorrow morning or an instant. Without either it has no end. */
const SPAN = {
  minutes: { type: 'number', exclusiveMinimum: 0, maximum: MOST_MINUTES },
  until: { type: 'string', pattern: '^(tomorrow|\\d{4}-\\d\\d-\\d\\dT[\\d:.]+(Z|[+-]\\d\\d:\\d\\d))$' },
} as const;

type SilenceSpan = { readonly minutes?: number; readonly until?: string };

/** Creates the table of everything that a person or script may do. Menu, banner, route and CLI all use it. */
export function createActions(controls: TrayControls, clock: Clock): Actions {
  const requirePersona = (persona: string): string => {
    if (controls.knows(persona)) return persona;
    throw createUsageFault(`persona ${JSON.stringify(persona)} is not watched`);
  };
  const parseUntil = ({ minutes, until }: SilenceSpan): Until => {
    if (minutes !== undefined && until !== undefined) throw createUsageFault('give minutes or until, not both');
    if (minutes !== undefined) return { is: 'at', at: clock.now() + minutes * 60_000 };
    if (until === undefined) return { is: 'forever' };
    const at = until === 'tomorrow' ? computeTomorrowMorning(clock.now()) : parseDateTime(until);
    if (at === null) throw createUsageFault(`until ${JSON.stringify(until)} is not a time`);
    if (at <= clock.now()) throw createUsageFault(`until ${JSON.stringify(until)} has passed`);
    return { is: 'at', at };
  };
  const silence = (persona: string | null, span: SilenceSpan) => {
    const until = parseUntil(span);
    controls.mute(persona, until);
    return { until: until.is === 'at' ? formatIso(until.at) : until.is };
  };
  const table: Action[] = [
    defineAction({
      name: 'poll',
      title: 'Poll now',
      params: OPTIONAL_PERSONA_PARAMS,
      asks: 'token',
      run: async ({ persona }) => {
        if (!controls.poll(persona ?? null)) requirePersona(persona ?? '');
        return { polled: persona ?? 'all' };
      },
    }),
    defineAction({
      name: 'hive-changed',
      title: 'Look for mail that another process wrote',
      params: NO_PARAMS,
      asks: 'token',
      run: async () => {
        controls.hiveChanged();
        return {};
      },
    }),
    defineAction({
      name: 'settings-changed',
      title: 'Apply the settings file',
      params: NO_PARAMS,
      asks: 'token',
      run: async () => await controls.settingsChanged(),
    }),
    defineAction({
      name: 'pause',
      title: 'Pause notifications',
      params: { ...closed, properties: SPAN },
      asks: 'token',
      run: async (span) => silence(null, span),
    }),
    defineAction({
      name: 'resume',
      title: 'Resume notifications',
      params: NO_PARAMS,
      asks: 'token',
      run: async () => {
        controls.mute(null, { is: 'never' });
        return {};
      },
    }),
    defineAction({
      name: 'mute',
      title: 'Mute',
      params: { ...closed, properties: { persona: PERSONA, ...SPAN }, required: ['persona'] },
      asks: 'token',
      run: async ({ persona, ...span }) => ({ persona, ...silence(requirePersona(persona), span) }),
    }),
    defineAction({
      name: 'unmute',
      title: 'Unmute',
      params: PERSONA_PARAMS,
      asks: 'token',
      run: async ({ persona }) => {
        controls.mute(requirePersona(persona), { is: 'never' });
        return { persona };
      },
    }),
    defineAction({
      name: 'hide',
      title: 'Hide',
      params: PERSONA_PARAMS,
      asks: 'token',
      run: async ({ persona }) => {
        controls.hide(requirePersona(persona), true);
        return { persona };
      },
    }),
    defineAction({
      name: 'unhide',
      title: 'Show again',
      params: PERSONA_PARAMS,
      asks: 'token',
      run: async ({ persona }) => {
        controls.hide(requirePersona(persona), false);
        return { persona };
      },
    }),
    defineAction({
      name: 'read',
      title: 'Mark as read',
      params: {
        ...closed,
        properties: { persona: PERSONA, id: MESSAGE, upTo: MESSAGE },
        required: ['persona'],
      },
      asks: 'token',
      run: async ({ persona, id, upTo }) => {
        if (id !== undefined && upTo !== undefined) throw createUsageFault('give id or upTo, not both');
        const which = id !== undefined ? [id] : upTo !== undefined ? { upTo } : 'all';
        return { persona, marked: controls.markRead(requirePersona(persona), which) };
      },
    }),
    defineAction({
      name: 'unread',
      title: 'Mark as unread',
      params: {
        ...closed,
        properties: {
          persona: PERSONA,
          id: MESSAGE,
          ids: { type: 'array', items: MESSAGE, minItems: 1, maxItems: 1000 },
        },
        required: ['persona'],
      },
      asks: 'token',
      run: async ({ persona, id, ids = id === undefined ? [] : [id] }) => {
        if (ids.length === 0) throw createUsageFault('give id or ids');
        return { persona, marked: controls.markUnread(requirePersona(persona), ids) };
      },
    }),
    defineAction({
      name: 'delete',
      title: 'Delete message',
      params: MESSAGE_PARAMS,
      asks: 'token',
      run: async ({ persona, id }) => ({ persona, deleted: controls.deleteMessage(requirePersona(persona), id) }),
    }),
    defineAction({
      name: 'reply',
      title: 'Reply as you',
      params: REPLY_PARAMS,
      asks: 'token',
      run: async ({ persona, text, message = null, subject = null }, signal) => {
        if (text.trim() === '' || text.includes('\0')) throw createUsageFault('a text is needed');
        const { is, says } = await controls.reply(requirePersona(persona), { text, message, subject }, signal);
        return { persona, is, says };
      },
    }),
    defineAction({
      name: 'decide',
      title: 'Answer a decision',
      params: ANSWER,
      asks: 'token',
      run: async ({ decision: id, ...answer }) => {
        const done = controls.decide(id, parseReply({ ...answer, by: OPERATOR }));
        if (done.is === 'none') throw createUsageFault(`there is no decision ${id}`);
        return { accepted: done.is === 'done', decision: toDecisionJson(done.decision) };
      },
    }),
    defineAction({
      name: 'permit',
      title: 'Answer a permission prompt',
      params: PERMIT,
      asks: 'token',
      run: async ({ permission, answer, from = 'program' }) => controls.permit(permission, answer, from),
    }),
    ...listSourceActions().map(({ source, name, title, params }) =>
      defineAction({
        ...{ name, title, params, asks: 'token' },
        run: async (given, signal) => await controls.actOnSource(source, name, given, signal),
      }),
    ),
    defineAction({
      name: 'open',
      title: 'Open session',
      params: OPEN_PARAMS,
      asks: 'token',
      run: async ({ persona, activationToken = null }) => {
        if (persona === undefined) return { opened: await controls.openPage(null, activationToken) };
        return { opened: await controls.openSession(requirePersona(persona), activationToken) };
      },
    }),
    defineAction({
      name: 'open-item',
      title: 'Open link',
      params: {
        ...closed,
        properties: { persona: PERSONA, id: MESSAGE, activationToken: { type: 'string' } },
        required: ['persona', 'id'],
      },
      asks: 'token',
      run: async ({ persona, id, activationToken = null }) => ({
        opened: await controls.openItem(requirePersona(persona), id, activationToken),
      }),
    }),
    defineAction({
      name: 'page',
      title: 'Open status page',
      params: OPEN_PARAMS,
      asks: 'token',
      run: async ({ persona, activationToken = null }) => {
        return {
          opened: await controls.openPage(persona === undefined ? null : requirePersona(persona), activationToken),
        };
      },
    }),
    defineAction({
      name: 'link',
      title: 'Give a one-time link to the status page',
      params: OPTIONAL_PERSONA_PARAMS,
      asks: 'run-token',
      run: async ({ persona }) => ({ url: controls.pageLink(persona === undefined ? null : requirePersona(persona)) }),
    }),
    defineAction({
      name: 'copy-follow',
      title: 'Copy follow command',
      params: PERSONA_PARAMS,
      asks: 'token',
      run: async ({ persona }) => {
        await controls.copyFollowCommand(requirePersona(persona));
        return {};
      },
    }),
    defineAction({
      name: 'quiet-hours',
      title: 'Quiet hours',
      params: SWITCH_PARAMS,
      asks: 'token',
      run: async ({ on }) => {
        controls.quietHours(on);
        return { on };
      },
    }),
    defineAction({
      name: 'autostart',
      title: 'Start at login',
      params: SWITCH_PARAMS,
      asks: 'token',
      run: async ({ on }) => {
        await controls.startAtLogin(on);
        return { on };
      },
    }),
    defineAction({
      name: 'notify-test',
      title: 'Show a test notification',
      params: NO_PARAMS,
      asks: 'token',
      run: async () => await controls.testNotification(),
    }),
    defineAction({
      name: 'quit',
      title: 'Quit',
      params: NO_PARAMS,
      asks: 'token',
      run: async () => {
        controls.quit();
        return {};
      },
    }),
  ];
  return new Map(table.map((entry) => [entry.name, entry]));
}

function createUsageFault(message: string): Fault {
  return new Fault('usage', message, { is: 'machine', key: 'action' });
}

/**
 * What a person or script may do, defined once for menu entry, banner button, route `POST /api/v1/actions/NAME` and CLI. The
 * result is JSON.
 */
export interface Action {
  readonly name: string;
  readonly title: string;
  /** A JSON Schema. */
  readonly params: object;
  /** `run-token`: the key of a device does not suffice, because what the action gives lasts longer. */
  readonly asks: 'nothing' | 'token' | 'run-token';
  /** @throws Fault `usage` when the params do not fit the schema. */
  run(params: unknown, signal: AbortSignal): Promise<unknown>;
}

export type Actions = ReadonlyMap<string, Action>;

const ajv = new Ajv2020({ strict: true, verbose: true });

/** Defines an action whose `run` only sees params that fit its schema. */
function defineAction<const P extends object>(definition: {
  readonly name: string;
  readonly title: string;
  readonly params: P;
  readonly asks: Action['asks'];
  run(params: XStatic<P>, signal: AbortSignal): Promise<unknown>;
}): Action {
  const fits = ajv.compile<XStatic<P>>(definition.params);
  return {
    ...definition,
    async run(params, signal) {
      if (fits(params)) return await definition.run(params, signal);
      const why = formatSchemaErrors(fits.errors, 'params');
      throw new Fault('usage', `action ${definition.name}: ${why}`, { is: 'machine', key: 'action' });
    },
  };
}

/** What the actions act on: the running tray process, as `app/program` builds it. */
export interface TrayControls {
  /** Whether this persona is on the board. */
  knows(persona: PersonaId): boolean;
  /** Polls one persona now, or with null every inbox of every source. Returns false when there is no such persona. */
  poll(persona: PersonaId | null): boolean;
  /** Tells the tray process that another process may have written mail to the local hive. */
  hiveChanged(): void;
  /** Reads the settings file and applies what changed. @throws Fault `settings` when it has a mistake; then nothing changed */
  settingsChanged(): Promise<{ readonly applied: readonly string[]; readonly atNextStart: readonly string[] }>;
  /** Shows no banners until then, for one persona or (null) for all. `never` shows banners again. */
  mute(persona: PersonaId | null, until: Until): void;
  hide(persona: PersonaId, hidden: boolean): void;
  /** Marks messages as read and returns how many. @throws Fault `usage` where the source cannot. */
  markRead(persona: PersonaId, which: MarkReadSelection): number;
  /**
   * Marks messages as unread, so that their agent gets them again. Returns how many changed. @throws Fault `usage` where the inbox is
   * not in the local hive
   */
  markUnread(persona: PersonaId, ids: readonly number[]): number;
  /** Deletes one message from this inbox. Returns how many there were. @throws Fault `usage` as `markUnread` does */
  deleteMessage(persona: PersonaId, id: number): number;
  /** Sends what a person typed, as that person. @throws Fault when it cannot be sent, or was not */
  reply(persona: PersonaId, reply: Reply, signal: AbortSignal): Promise<ReplyResult>;
  /**
   * Answers a decision and delivers the answer to whoever asked. @throws Fault `usage` when the reply does not fit the decision
   */
  decide(decision: number, reply: DecisionReply): DecisionResult;
  /**
   * Answers a permission prompt of an agent, once. @throws Fault `usage` when the prompt is over or was never there, and for a
   * call that nobody could read to its end
   */
  permit(
    id: string,
    answer: PermissionAnswer,
    from: string,
  ): { readonly persona: PersonaId; readonly answer: PermissionAnswer };
  /** Runs an action of a source. What it changes shows on the board later. @throws Fault */
  actOnSource(source: SourceName, action: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  /** Opens the persona's session, or its page where there is no session. Returns what was opened. */
  openSession(persona: PersonaId, activationToken: string | null): Promise<OpenResult>;
  /**
   * Opens the link of a message. @throws Fault `usage` when it has none, or when the setting `urlSchemes` does not allow it
   */
  openItem(persona: PersonaId, id: number, activationToken: string | null): Promise<OpenResult>;
  openPage(persona: PersonaId | null, activationToken: string | null): Promise<OpenResult>;
  /** Creates an address of the page that logs its browser in. It works once and for one minute. */
  pageLink(persona: PersonaId | null): string;
  copyFollowCommand(persona: PersonaId): Promise<void>;
  quietHours(on: boolean): void;
  startAtLogin(on: boolean): Promise<void>;
  /** Shows a test banner and returns what is known about it. */
  testNotification(): Promise<{
    readonly taken: boolean;
    /** The state of the channels, as on the page. */
    readonly by: string;
    /** The names of the channels that were tried. */
    readonly channels: readonly string[];
    /** Why other banners are not shown at the moment; null when they are. */
    readonly silent: 'paused' | 'quiet-hours' | null;
    /** Why the banner was not accepted. */
    readonly why?: string;
  }>;
  quit(): void;
}
