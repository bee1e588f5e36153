/** How a wait continues after "waits", by the general reasons. */
const WAIT_TEXTS: ReadonlyMap<string, string> = new Map([
  ['permission', 'at a permission prompt'],
  ['input', 'for your input'],
  ['decision', 'for your decision'],
  ['dialog', 'at an open dialog'],
]);

/** How a wait begins that is none for an answer: the agent cannot work, and a word of its program says why. */
const FAILED = 'failed-';

/** Why an agent cannot work, by the words of Claude Code and those that say the same. */
const FAILURE_TEXTS: ReadonlyMap<string, string> = new Map([
  ['rate-limit', 'its rate limit is reached'],
  ['overloaded', 'its model is overloaded'],
  ['authentication-failed', 'its login is not accepted'],
  ['oauth-org-not-allowed', 'its organization does not allow this login'],
  ['billing-error', 'its account has a billing problem'],
  ['invalid-request', 'its model refuses the request'],
  ['model-not-found', 'its model does not exist, or is not allowed'],
  ['server-error', 'the server of its model fails'],
  ['max-output-tokens', 'its answer became too long'],
]);

/**
 * Formats why an agent cannot work, from the reason of its state: `its rate limit is reached`. A word that is not known is untrusted.
 * Null for a reason that is no failure.
 */
export function findFailureText(why: string): string | null {
  if (!why.startsWith(FAILED)) return null;
  const word = why.slice(FAILED.length);
  const other = word === 'unknown' || word === 'error' ? '' : ` (${word.replaceAll('-', ' ')})`;
  return FAILURE_TEXTS.get(word) ?? `its model could not be asked${other}`;
}

/**
 * Formats what a waiting agent waits for, as it continues after "waits": `at a permission prompt`. Null for a reason that only its
 * reporter knows.
 */
export function findWaitText(why: string): string | null {
  return WAIT_TEXTS.get(why) ?? null;
}

/** Formats a reason of an agent state by itself: the text of its source, else its own words. Untrusted, like the reason. */
export function formatStateReason(why: string, text: string | null): string {
  return text ?? why.replaceAll('-', ' ');
}

/**
 * Formats what an agent does, the same on every surface: `Waits at a permission prompt`, `Working`, `Nobody takes its mail`. Null
 * when nobody says what it does.
 * @param text what a person reads of the reason, from the source; null when it has none. It and `why` are untrusted
 */
export function formatAgentState(is: string, why: string | null, text: string | null): string | null {
  switch (is) {
    case 'waiting':
      if (why === null) return 'Waits for you';
      if (findFailureText(why) !== null) return `Cannot work: ${findFailureText(why)}`;
      return `Waits ${findWaitText(why) ?? `for you: ${formatStateReason(why, text)}`}`;
    case 'working':
      return 'Working';
    case 'idle':
      return 'Idle';
    case 'gone':
      return 'Gone';
    case 'stalled':
      return 'Nobody takes its mail';
    default:
      return null;
  }
}

/** Formats how many agents wait: `2 agents wait for you`. */
export function formatWaiting(count: number): string {
  return count === 1 ? '1 agent waits for you' : `${count} agents wait for you`;
}

/** Formats the folder in which an agent works by its last part, which tells most folders apart. Null for none. */
export function formatFolder(cwd: string | null): string | null {
  if (cwd === null) return null;
  return cwd.split(/[/\\]+/).findLast((part) => part !== '') ?? cwd;
}
