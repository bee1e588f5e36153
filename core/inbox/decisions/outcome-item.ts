import { isSameName } from '../../model/index.ts';
import type { OwnItem, Priority } from '../item.ts';
import type { Decision, DecisionUrgency, Outcome } from './decision.ts';

/** Unless its urgency is low, an answer reaches a working agent after its next tool call. */
const PRIORITY: Readonly<Record<DecisionUrgency, Priority>> = { low: 2, normal: 1, high: 0 };

/** The source of an item that no person wrote. */
const OURSELVES = 'hivebar';

/** Creates the item that tells the asking persona how its decision was closed. It is complete, so nothing must be looked up. */
export function toOutcomeItem(decision: Decision, outcome: Exclude<Outcome, { is: 'open' }>): OwnItem {
  const by = outcome.is === 'timed-out' ? null : outcome.by;
  return {
    persona: decision.persona,
    key: `decision:${decision.id}`,
    type: 'decision',
    source: by === null || isSameName(by, decision.persona) ? OURSELVES : by,
    content: formatOutcome(decision, outcome),
    priority: PRIORITY[decision.urgency],
    session: null,
    created: outcome.at,
    expires: null,
  };
}

function formatOutcome(decision: Decision, outcome: Exclude<Outcome, { is: 'open' }>): string {
  const question = `You asked: ${decision.prompt}`;
  const name = `Decision ${decision.id}`;
  switch (outcome.is) {
    case 'timed-out':
      return `${name} was not answered in time, and has no default.\n${question}`;
    case 'cancelled': {
      const why = outcome.text === null ? [] : [`Reason: ${outcome.text}`];
      return [`${name} was cancelled by ${outcome.by}.`, question, ...why].join('\n');
    }
    case 'resolved': {
      const { by, choice, text } = outcome;
      if (decision.next !== null)
        return [
          `${name} is not decided: ${by} gave guidance instead of a choice.`,
          question,
          `Guidance: ${text}`,
          `It is open again as decision ${decision.next} with the same options. To propose others: hivebar decision create --refines ${decision.next} ...`,
        ].join('\n');
      const how = by === null ? 'was not answered in time, so its default holds.' : `was answered by ${by}.`;
      const chosen = choice === null ? [] : [`Chosen: ${choice} (${findOptionLabel(decision, choice)})`];
      const answerText = text === null ? [] : [`${choice === null ? 'Answer' : 'Guidance'}: ${text}`];
      return [`${name} ${how}`, question, ...chosen, ...answerText].join('\n');
    }
  }
}

export function findOptionLabel({ options }: Decision, choice: string): string {
  return options.find(({ id }) => id === choice)?.label ?? choice;
}
