import { namesOf, refusal } from './check.ts';
import type { Decision, Reply } from './decision.ts';

/** What a reply makes of an open decision. */
export type Answer =
  | { readonly is: 'closes'; readonly choice: string | null; readonly text: string | null }
  | { readonly is: 'asks-again'; readonly guidance: string };

/**
 * The rule of contract 6: a choice closes; text alone closes a free-text question and what is accepted as it is, else it is
 * guidance, which starts the next iteration as long as there is one.
 *
 * @throws Fault `usage`: no such option, or the last iteration
 */
export function answerTo(decision: Decision, { select, text, acceptGuidance }: Reply): Answer {
  const { id, options, freeText, iteration, mostIterations } = decision;
  if (select !== null) {
    if (options.some((option) => option.id === select)) return { is: 'closes', choice: select, text };
    const offered = options.length === 0 ? 'it is answered with text' : `choose ${namesOf(options)}`;
    throw refusal(`decision ${id} has no option ${JSON.stringify(select)}: ${offered}`);
  }
  if (text === null) throw refusal(`decision ${id}: an answer must select an option or have text`);
  if (freeText || acceptGuidance) return { is: 'closes', choice: null, text };
  if (iteration < mostIterations) return { is: 'asks-again', guidance: text };
  throw refusal(
    `decision ${id} is iteration ${iteration} of ${mostIterations}, so text alone does not ask again: ` +
      `choose ${namesOf(options)}, or close it with the text by --accept-guidance`,
  );
}
