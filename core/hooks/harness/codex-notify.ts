import { type Fault, LARGE_JSON, parseJson } from '../../model/index.ts';
import { type HookTurn, parseHookTurn } from './turn.ts';

/** The one kind of notification there is: the agent has stopped, and waits for its person. */
const TURN_COMPLETE = 'agent-turn-complete';

/**
 * What Codex appends to the program of its older setting `notify`, one JSON object in kebab case (inbox and gates, contract 5). It
 * comes after the turn, so it says that there was a Stop, and nothing can be answered. Null: a kind that says nothing of turns.
 */
export function parseTurnNotification(text: string): HookTurn | Fault | null {
  // What is no object is told of in the words of stdin.
  const whole = parseHookTurn('codex', text, 'Stop');
  if (!('event' in whole)) return whole;
  const input = parseJson(text, LARGE_JSON) as Readonly<Record<string, unknown>>;
  if (input.type !== TURN_COMPLETE) return null;
  const { cwd, 'thread-id': session_id, 'turn-id': turn_id, 'last-assistant-message': last_assistant_message } = input;
  return parseHookTurn('codex', JSON.stringify({ cwd, session_id, turn_id, last_assistant_message }), 'Stop');
}
