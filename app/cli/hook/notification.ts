import { join } from 'node:path';
import type { Io } from '../../../core/command/index.ts';
import { type HookTurn, parseTurnNotification } from '../../../core/hooks/index.ts';
import { Fault } from '../../../core/model/index.ts';
import { type Log, realClock } from '../../../core/ports/index.ts';
import { createRealDisk, findOwnDirs, openStore } from '../../../core/state/index.ts';
import { locateInbox, noteActivity, reportSession } from '../../hook/index.ts';
import { openSessionStore } from '../../open/index.ts';
import { DATABASE } from '../open-local-hive.ts';
import { findAnnouncedPersona, findStatedPersona, formatAmbiguous, type TimeBudget } from './call.ts';
import { createBell } from './doorbell.ts';
import { findRunner } from './system.node.ts';

const BUSY_MS = 250;

interface NotificationNeeds {
  readonly log: Log;
  readonly budget: TimeBudget;
}

/**
 * Handles a harness's notification that a turn is over. The harness waits for no answer, and the agent is idle from now on. A
 * daemon of the persona is told about the boundary, but nothing can be printed. @throws Fault
 */
export async function handleNotification(
  text: string,
  flag: string | null,
  env: Io['env'],
  { log, budget }: NotificationNeeds,
): Promise<void> {
  const turn = parseTurnNotification(text);
  if (turn instanceof Fault) throw turn;
  if (turn === null) return;
  const { state, run, config } = findOwnDirs({ ...env });
  const stated = findStatedPersona(turn, env, null);
  const facts = {
    harness: 'codex',
    persona: stated,
    findRunner: () => findRunner('codex', turn.session ?? '', env),
  };
  reportSession(run, turn, facts, realClock.now());
  const persona = stated ?? loadAnnouncedPersona(turn, flag, { state, config }, log);
  if (persona === null) return;
  noteActivity(run, persona, turn.event);
  const { name } = locateInbox(persona, config);
  const bell = await createBell({ persona, name }, { disk: createRealDisk(log), state, env, budget });
  await bell?.at('agent-turn-complete', turn);
}

function loadAnnouncedPersona(
  turn: HookTurn,
  flag: string | null,
  { state, config }: { readonly state: string; readonly config: string },
  log: Log,
): string | null {
  using db = openStore(join(state, DATABASE), { busyMs: BUSY_MS, log });
  const known = findAnnouncedPersona(turn, openSessionStore(db), config, flag);
  if (known.is === 'known') return known.persona;
  if (known.is === 'ambiguous') log.warn(formatAmbiguous(turn, known.personas));
  return null;
}
