import { formatIso } from '../../model/index.ts';
import type { Decision } from './decision.ts';

/** A decision as commands and routes print it. */
export function toDecisionJson(decision: Decision) {
  const { outcome } = decision;
  const isText = outcome.is === 'resolved' || outcome.is === 'cancelled';
  return {
    id: decision.id,
    persona: decision.persona,
    prompt: decision.prompt,
    context: decision.context,
    options: decision.options,
    freeText: decision.freeText,
    default: decision.fallback,
    urgency: decision.urgency,
    blocking: decision.blocking,
    iteration: decision.iteration,
    mostIterations: decision.mostIterations,
    parent: decision.parent,
    guidance: decision.guidance,
    created: formatIso(decision.created),
    expires: decision.expires === null ? null : formatIso(decision.expires),
    state: outcome.is,
    choice: outcome.is === 'resolved' ? outcome.choice : null,
    text: isText ? outcome.text : null,
    by: isText ? outcome.by : null,
    closed: outcome.is === 'open' ? null : formatIso(outcome.at),
    next: decision.next,
  };
}
