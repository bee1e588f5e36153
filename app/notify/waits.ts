import { type AgentState, isSameWait, type PersonaId } from '../../core/model/index.ts';
import { toWaitKey } from './channels/index.ts';
import type { PolicyDraft } from './draft.ts';
import { PERMISSION } from './permissions.ts';
import type { WaitState } from './state.ts';

/** What an agent does now, as the board chose it from all reports. */
export interface AgentChange {
  readonly persona: PersonaId;
  readonly state: AgentState;
}

/** A reason of a reporter is untrusted, and a banner is short. */
const WHY_CHARS = 1000;
const CWD_CHARS = 4000;

/** After this time, an announcement of a wait whose persona never came back is forgotten. */
const FORGET_MS = 24 * 60 * 60_000;

/**
 * Takes what an agent does now. The same wait again costs nothing, and no longer waiting ends it. A wait for an open decision is none
 * here, because the decision has a banner of its own.
 */
export function updateAgent(draft: PolicyDraft, { persona, state }: AgentChange): void {
  const key = toWaitKey(persona);
  const { [key]: ask } = draft.state.asks;
  const before = ask?.kind === 'wait' ? ask : undefined;
  const announced = draft.state.announcedWaits[key];
  if (state.is !== 'waiting' || typeof state.decision === 'number') {
    if (before !== undefined) draft.setAsk(key, null);
    if (announced === undefined) return;
    // Nobody says what it does, which is no end of its wait: the announcement stays, so that the same wait is not announced again.
    if (state.is !== 'unknown') draft.setWaitAnnounced(key, null);
    else if (before !== undefined && announced.isResumed) {
      const { isResumed: _, ...known } = announced;
      draft.setWaitAnnounced(key, known);
    }
    return;
  }
  const since = state.since ?? null;
  const now: WaitState = {
    ...{ kind: 'wait', key, persona, since, created: since ?? draft.at, receivedAt: draft.at, banner: 'own' },
    why: state.why.slice(0, WHY_CHARS),
    cwd: state.cwd?.slice(0, CWD_CHARS) ?? null,
    announceState: 'not yet',
    ...(draft.rules.answersPermissions && state.why === PERMISSION && { isHeld: true }),
  };
  if (before !== undefined && isSameWait(before.since, since)) {
    if (before.why !== now.why) handleOtherReason(draft, before, now);
    return;
  }
  if (before === undefined && announced !== undefined && isSameWait(announced.since, since)) {
    draft.setAsk(key, { ...now, announceState: 'done', banner: announced.banner });
    return;
  }
  forgetOld(draft);
  draft.setAsk(key, now);
}

/** The persona is not watched any more. */
export function handleLeft(draft: PolicyDraft, persona: PersonaId): void {
  const key = toWaitKey(persona);
  if (draft.state.asks[key] !== undefined) draft.setAsk(key, null);
  if (draft.state.announcedWaits[key] !== undefined) draft.setWaitAnnounced(key, null);
}

/** Another reporter knows better what the agent waits for. A banner that is still on the screen says so. */
function handleOtherReason(draft: PolicyDraft, before: WaitState, { why, cwd }: WaitState): void {
  const isShown = before.banner === 'own' && before.announceState !== 'not yet' && draft.isOpen(before.key);
  draft.setAsk(before.key, { ...before, why, cwd, announceState: isShown ? 'not yet' : before.announceState });
}

function forgetOld(draft: PolicyDraft): void {
  for (const { persona, at, isResumed } of Object.values(draft.state.announcedWaits)) {
    if (isResumed && draft.at - at > FORGET_MS && draft.findPersona(persona) === undefined) {
      draft.setWaitAnnounced(toWaitKey(persona), null);
    }
  }
}
