import { join } from 'node:path';
import { notifiedTurn, type Turn } from '../../../core/hooks/index.ts';
import { Fault } from '../../../core/model/index.ts';
import type { Log } from '../../../core/ports/index.ts';
import { openStore, ownDirs, realDisk } from '../../../core/state/index.ts';
import { inboxesOf, noteActivity } from '../../hook/index.ts';
import { keptSessions } from '../../open/index.ts';
import type { Io } from '../command.ts';
import { DATABASE } from '../with-hive.ts';
import type { Budget } from './budget.ts';
import { bellOf } from './doorbell.ts';
import { formatAmbiguous, personaKept, personaSaid } from './whose.ts';

const BUSY_MS = 250;

export interface NotifiedNeeds {
  readonly log: Log;
  readonly budget: Budget;
}

/**
 * A harness told that a turn is over, and waits for no answer: the agent is idle from now on. A daemon of the persona is told
 * of the boundary, at which nothing can be printed. @throws Fault
 */
export async function notified(
  text: string,
  flag: string | null,
  env: Io['env'],
  { log, budget }: NotifiedNeeds,
): Promise<void> {
  const turn = notifiedTurn(text);
  if (turn instanceof Fault) throw turn;
  if (turn === null) return;
  const { state, run, config } = ownDirs({ ...env });
  const persona = personaSaid(turn, env, null) ?? keptPersona(turn, flag, { state, config }, log);
  if (persona === null) return;
  noteActivity(run, persona, turn.event);
  const { name } = inboxesOf(persona, config);
  const bell = await bellOf({ persona, name }, { disk: realDisk(log), state, env, budget });
  await bell?.at('agent-turn-complete', turn);
}

function keptPersona(
  turn: Turn,
  flag: string | null,
  { state, config }: { readonly state: string; readonly config: string },
  log: Log,
): string | null {
  using db = openStore(join(state, DATABASE), { busyMs: BUSY_MS, log });
  const known = personaKept(turn, keptSessions(db), config, flag);
  if (known.is === 'known') return known.persona;
  if (known.is === 'ambiguous') log.warn(formatAmbiguous(turn, known.personas));
  return null;
}
