import { createRefusal, formatOptionIds } from './check.ts';
import type { Decision, DecisionReply } from './decision.ts';

/** The effect of a reply on an open decision. */
export type ReplyEffect =
  | { readonly is: 'closes'; readonly choice: string | null; readonly text: string | null }
  | { readonly is: 'asks-again'; readonly guidance: string };

/**
 * Applies the rule of contract 6. A choice closes the decision. Text alone closes a free-text question, or a decision whose reply
 * accepts it as guidance. Otherwise the text is guidance, which starts the next iteration if there is one left.
 *
 * @throws Fault `usage`: no such option, or the last iteration
 */
export function evaluateReply(decision: Decision, { select, text, acceptGuidance }: DecisionReply): ReplyEffect {
  const { id, options, freeText, iteration, mostIterations } = decision;
  if (select !== null) {
    if (options.some((option) => option.id === select)) return { is: 'closes', choice: select, text };
    const expectation = options.length === 0 ? 'it is answered with text' : `choose ${formatOptionIds(options)}`;
    throw createRefusal(`decision ${id} has no option ${JSON.stringify(select)}: ${expectation}`);
  }
  if (text === null) throw createRefusal(`decision ${id}: an answer must select an option or have text`);
  if (freeText || acceptGuidance) return { is: 'closes', choice: null, text };
  if (iteration < mostIterations) return { is: 'asks-again', guidance: text };
  throw createRefusal(
    `decision ${id} is iteration ${iteration} of ${mostIterations}, so text alone does not ask again: ` +
      `choose ${formatOptionIds(options)}, or close it with the text by --accept-guidance`,
  );
}
