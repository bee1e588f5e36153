import { Fault, type SourceId, VITAL_NOT_REPORTED } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import type { Look, Member, Pending, Persona, Roll, Source } from '../source.ts';
import type { HiveClient, Window } from './client.ts';
import { personaIdOf } from './persona-id.ts';

export interface KijitoOptions {
  readonly id: SourceId;
  /** Owned: closed with the source. */
  readonly client: HiveClient;
  readonly clock: Clock;
  readonly members: Members;
}

/** Who is watched: those of the hive's directory, or the one inbox of a `--url`. */
export type Members =
  | {
      readonly is: 'directory';
      /** Before each name; empty for the primary hive. */
      readonly prefix: string;
      /** Prefixes of other sources, which a bare name may not begin with. */
      readonly reserved: readonly string[];
    }
  | { readonly is: 'single'; readonly persona: Persona };

/** The event key `source` of every hive, local or not. */
export const KIJITO_KIND = 'kijito-inbox';

/** A persona of the directory as Hivebar names it. */
export function kijitoPersona(address: string, members: Members & { readonly is: 'directory' }): Persona {
  return { id: personaIdOf(address, members.prefix, members.reserved), address, label: address };
}

const NOTHING_SAID: Member = { memories: null, retired: false, writeOnly: false, mail: null };

/** A hive as a source: a log of rows with rising ids, read without consuming (Kijito spec 5 and 9). */
export function kijitoSource({ id, client, clock, members }: KijitoOptions): Source {
  let roll: Roll | null = null;
  const personas = async (signal: AbortSignal): Promise<readonly Persona[]> => {
    if (members.is === 'single') return [members.persona];
    if (client.personas === undefined) {
      throw new Fault('not-found', `${id} has no directory of personas`, { is: 'source', key: id });
    }
    const asked = clock.monotonic();
    const of =
      (await client.roll?.(signal)) ?? new Map((await client.personas(signal)).map((name) => [name, NOTHING_SAID]));
    roll = { asked, of };
    return [...of.keys()].map((address) => kijitoPersona(address, members));
  };
  const lookOf = ({ unread, urgent, ...log }: Window): Look => ({
    at: clock.now(),
    unread,
    urgent,
    vital: VITAL_NOT_REPORTED,
    evidence: { is: 'log', ...log },
  });
  return {
    id,
    kind: KIJITO_KIND,
    personas,
    ...(members.is === 'single' ? {} : { roll: () => roll }),
    look(persona, from, signal) {
      const [after, done] = from.is === 'at' ? [from.id, from.done ?? []] : [null, []];
      const window = client.window(persona.address, after, signal, done);
      return window instanceof Promise ? window.then(lookOf) : lookOf(window);
    },
    ...(client.pending === undefined
      ? {}
      : { pending: pendingOf(client.pending.bind(client), client.hints === undefined) }),
    ...(client.markRead === undefined ? {} : { markRead: markReadOf(client.markRead.bind(client)) }),
    ...(client.isGone === undefined ? {} : { isGone: isGoneOf(client.isGone.bind(client)) }),
    ...(client.reset === undefined ? {} : { reset: client.reset.bind(client) }),
    ...(client.hints === undefined ? {} : { hints: client.hints.bind(client) }),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

function isGoneOf(isGone: NonNullable<HiveClient['isGone']>): NonNullable<Source['isGone']> {
  return ({ address }) => isGone(address);
}

function markReadOf(mark: NonNullable<HiveClient['markRead']>): NonNullable<Source['markRead']> {
  return ({ address }, which) => mark(address, which);
}

function pendingOf(ask: NonNullable<HiveClient['pending']>, hidesChanges: boolean): Pending {
  return {
    hidesChanges,
    once: (signal) => ask(null, signal),
    hold: (cursor, ms, signal) => ask({ cursor, ms }, signal),
  };
}
