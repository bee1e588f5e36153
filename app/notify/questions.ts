import type { Event, MailEvent } from '../../core/events/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import { toQuestionKey } from './channels/index.ts';
import type { PolicyDraft } from './draft.ts';
import { isNews, toMailPreview } from './mail.ts';
import type { QuestionState } from './state.ts';

/** At most this many questions are known at once; beyond it, those that were announced first are forgotten. */
const MOST = 200;

/** The changes of a question after which nobody has to answer it. That its agent fetched it is not among them. */
const ANSWERED: ReadonlySet<Event['event']> = new Set<Event['event']>(['read', 'gone', 'cleared', 'acked']);

/** Takes the questions among delivered events, and what became of earlier ones. */
export function handleDelivered(draft: PolicyDraft, persona: PersonaId, events: readonly Event[]): void {
  for (const event of events) {
    if (event.event === 'question' && isNews(event)) add(draft, persona, event);
    else if ('id' in event && ANSWERED.has(event.event)) forget(draft, toQuestionKey(persona, event.id));
  }
}

/** Nothing of the persona is unread any more, or it is not watched any more, so nobody has to answer. */
export function handleOver(draft: PolicyDraft, persona: PersonaId): void {
  for (const question of listQuestions(draft)) if (question.persona === persona) forget(draft, question.key);
}

function add(draft: PolicyDraft, persona: PersonaId, event: MailEvent): void {
  const known = listQuestions(draft);
  const done = known.filter(({ announceState }) => announceState === 'done');
  for (const { key } of done.slice(0, Math.max(0, known.length + 1 - MOST))) forget(draft, key);
  const key = toQuestionKey(persona, event.id);
  draft.setAsk(key, {
    ...{ kind: 'question', key, persona, created: draft.at, receivedAt: draft.at },
    message: toMailPreview(event),
    announceState: 'not yet',
    banner: 'own',
  });
}

function forget(draft: PolicyDraft, key: QuestionState['key']): void {
  if (draft.state.asks[key] !== undefined) draft.setAsk(key, null);
}

function listQuestions({ state }: PolicyDraft): QuestionState[] {
  return Object.values(state.asks).filter((ask) => ask.kind === 'question');
}
