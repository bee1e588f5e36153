import type { Board, OpenDecision, OpenGate } from '../../core/board/index.ts';
import type { Decision, Decisions } from '../../core/inbox/decisions/index.ts';
import { type LocalHive, unreadByPriority } from '../../core/inbox/index.ts';
import { Fault, type PersonaId } from '../../core/model/index.ts';
import type { Database } from '../../core/state/index.ts';
import type { Machine } from './machine.ts';

export interface TellLocalOptions {
  readonly db: Database;
  readonly local: LocalHive;
  readonly decisions: Pick<Decisions, 'list'>;
  /** By name, the open gates of these, who ask something, and of all others who have any. @throws Fault */
  readonly gates: (asking: readonly string[]) => ReadonlyMap<string, readonly OpenGate[]>;
  /** The id on the board of a persona of the local hive. */
  readonly idOf: (name: string) => PersonaId;
  readonly board: Board;
}

export interface LocalTeller extends Disposable {
  /** Looks at decisions and gates, soon: they changed, here or in another process. */
  look(): void;
}

/** What changed is put together for so long: a storm of mail is one picture. */
const GATHER_MS = 100;
/** The newest so many: more than a person answers. */
const MOST_DECISIONS = 200;
const NO_GATES: readonly OpenGate[] = [];

/** Puts on the board what only the hive of this machine knows: unread by priority, open gates, open decisions. */
export function tellLocal(options: TellLocalOptions, { clock, log }: Pick<Machine, 'clock' | 'log'>): LocalTeller {
  const { db, local, decisions, idOf, board } = options;
  const pendingOf = unreadByPriority(db);
  /** Whose numbers are to be counted anew. */
  const changed = new Set<string>();
  let gates: ReadonlyMap<string, readonly OpenGate[]> = new Map();
  let isLookDue = true;
  let soon: Disposable | null = null;
  let failed = false;

  function wake(): void {
    soon ??= clock.after(GATHER_MS, () => {
      soon = null;
      try {
        if (isLookDue) lookAtAll();
        count();
        failed = false;
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        if (!failed) log.warn(`what waits on this machine could not be looked at: ${error.explain()}`);
        failed = true;
      }
    });
  }

  function lookAtAll(): void {
    isLookDue = false;
    const before = gates;
    const open = decisions.list({ persona: null, onlyOpen: true, limit: MOST_DECISIONS }).toReversed();
    gates = options.gates(open.map(({ persona }) => persona));
    for (const name of [...before.keys(), ...gates.keys()]) changed.add(name);
    const known = new Set(board.snapshot().personas.map(({ id }) => id));
    // Who asks may be known by its bare name as the persona of another hive.
    const whoAsks = (name: string): PersonaId => (known.has(name) ? name : idOf(name));
    board.put({ is: 'asked', at: clock.now(), decisions: open.map((one) => openDecision(one, whoAsks)) });
  }

  function count(): void {
    const at = clock.now();
    for (const name of changed) {
      changed.delete(name);
      const now = { pending: pendingOf(name, at), gates: gates.get(name) ?? NO_GATES };
      board.put({ is: 'local', at, persona: idOf(name), local: now });
    }
  }

  const hints = local.hints((name) => {
    changed.add(name);
    wake();
  });
  // A fact about who has not joined is lost.
  const joins = board.facts((fact) => {
    if (fact.is !== 'joined') return;
    isLookDue = true;
    if (idOf(fact.address) === fact.persona) changed.add(fact.address);
    wake();
  });
  const look = (): void => {
    isLookDue = true;
    wake();
  };
  look();
  return {
    look,
    [Symbol.dispose]() {
      hints[Symbol.dispose]();
      joins[Symbol.dispose]();
      soon?.[Symbol.dispose]();
    },
  };
}

function openDecision({ persona: name, ...of }: Decision, whoAsks: (name: string) => PersonaId): OpenDecision {
  const { id, prompt, context, options, freeText, fallback, urgency, blocking, created, expires } = of;
  const asked = { prompt, context, options, freeText, fallback, urgency, blocking, created, expires };
  return { id, persona: whoAsks(name), ...asked };
}
