import type { OpenDecision } from '../../core/board/index.ts';
import { toDecisionKey } from './channels/index.ts';
import type { PolicyDraft } from './draft.ts';
import type { DecisionState, PolicyState } from './state.ts';
import { MOST_ANSWERS } from './texts.ts';

/** Questions in banners are cut; the page has the whole text. */
const PROMPT_CHARS = 4000;
const SHORT_CHARS = 400;

type DecisionKey = `decision:${number}`;

const listDecisions = ({ asks }: PolicyState): DecisionState[] =>
  Object.values(asks).filter((ask) => ask.kind === 'decision');

/**
 * Takes the list of all open decisions. A decision that is not in it has ended and is forgotten. The same list again costs
 * nothing.
 */
export function updateDecisions(draft: PolicyDraft, decisions: readonly OpenDecision[]): void {
  if (isKnown(draft.state, decisions)) return;
  const open = new Set(decisions.map(({ id }) => toDecisionKey(id)));
  for (const { key } of listDecisions(draft.state)) if (!open.has(key)) draft.setAsk(key, null);
  for (const key of Object.keys(draft.state.announcedDecisions) as DecisionKey[])
    if (!open.has(key)) draft.setDecisionAnnounced(key, false);
  for (const decision of decisions) {
    const key = toDecisionKey(decision.id);
    const { persona, blocking } = decision;
    const before = draft.state.asks[key];
    const known = before?.kind === 'decision' ? before : toDecisionState(draft, decision);
    draft.setAsk(key, { ...known, persona, blocking });
  }
}

function isKnown(state: PolicyState, decisions: readonly OpenDecision[]): boolean {
  return (
    listDecisions(state).length === decisions.length &&
    decisions.every(({ id, persona, blocking }) => {
      const before = state.asks[toDecisionKey(id)];
      return before?.kind === 'decision' && before.persona === persona && before.blocking === blocking;
    }) &&
    Object.keys(state.announcedDecisions).every((key) => key in state.asks)
  );
}

function toDecisionState(
  draft: PolicyDraft,
  { id, persona, prompt, options, fallback, urgency, blocking, created, expires }: OpenDecision,
): DecisionState {
  const key = toDecisionKey(id);
  const chosen = options.find((option) => option.id === fallback);
  const isAnnounced = draft.state.announcedDecisions[key] === true;
  return {
    kind: 'decision',
    key,
    id,
    persona,
    prompt: prompt.slice(0, PROMPT_CHARS),
    options: options
      .slice(0, MOST_ANSWERS)
      .map((option) => ({ id: option.id, short: option.short.slice(0, SHORT_CHARS) })),
    byItself: chosen === undefined || expires === null ? null : { short: chosen.short.slice(0, SHORT_CHARS), expires },
    urgency,
    blocking,
    created,
    receivedAt: draft.at,
    announcedAt: draft.at,
    announceState: isAnnounced ? 'done' : 'not yet',
    banner: 'own',
  };
}
