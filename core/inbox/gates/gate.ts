import { Fault, type Instant, type PersonaId } from '../../model/index.ts';
import { toStem } from '../../state/index.ts';

/** The events of a harness that can have gates (inbox and gates, contract 4). */
export const HOOKS = ['Stop', 'PreToolUse', 'UserPromptSubmit', 'PreCompact'] as const;
export type Hook = (typeof HOOKS)[number];

/** An open gate blocks if it is `strict`, and warns if it is `soft`. */
export const MODES = ['strict', 'soft'] as const;
export type Mode = (typeof MODES)[number];

/** The automatic checks that can close a gate; `decision-waiting` reads the mark of that name. */
export const CHECKS = ['commit-push', 'bead-update', 'mol-gate-pending', 'decision-waiting'] as const;
export type CheckName = (typeof CHECKS)[number];

/** Who marked a gate as satisfied. */
export const MARK_PROVENANCES = ['auto', 'cli', 'decision', 'operator'] as const;
export type MarkProvenance = (typeof MARK_PROVENANCES)[number];

/** A condition of one persona. */
export interface Gate {
  /** A name that is valid as a file name everywhere: lower case, digits, `.`, `_`, `-`. */
  readonly id: string;
  /** Null: a mark that no hook checks. */
  readonly hook: Hook | null;
  readonly mode: Mode;
  readonly description: string;
  /** What to do about the gate. */
  readonly hint: string | null;
  readonly check: CheckName | null;
  /** At PreToolUse: which calls the gate applies to; null: all. */
  readonly matcher: Matcher | null;
  /** How long a mark is valid; null: until it is cleared. */
  readonly ttlSeconds: number | null;
}

/** A mark says that a gate is satisfied, by whom and for whom. */
export interface GateMark {
  readonly by: MarkProvenance;
  readonly at: Instant;
  /** Null: for every session of the persona. */
  readonly session: string | null;
  /** The terminal of that session, so that the next session in the same terminal counts as the same; null: unknown. */
  readonly terminal: string | null;
}

/** A gate with its mark, for a persona. */
export interface GateState {
  readonly gate: Gate;
  readonly mark: GateMark | null;
  /** Nobody registered the gate: it is one that every persona has. */
  readonly isBuiltIn: boolean;
}

/** The session for which gates are checked. */
export interface Asker {
  readonly session: string;
  /** See `findTerminal`; null: unknown. */
  readonly terminal: string | null;
}

const SAME_TERMINAL_MS = 12 * 3_600_000;

/**
 * Whether a mark is valid for this session. It must be made for this session, for all, or by another session of the same terminal
 * within 12 h. It must not be too old for the gate. Without a terminal no other session counts (contract 8, defect 8). A mark too
 * far in the future is as invalid as one too far in the past.
 */
export function holds({ gate, mark }: GateState, { session, terminal }: Asker, now: Instant): boolean {
  if (mark === null || !isFitting(gate, mark) || !isFresh(gate, mark, now)) return false;
  if (mark.session === null || mark.session === session) return true;
  return terminal !== null && mark.terminal === terminal && Math.abs(now - mark.at) < SAME_TERMINAL_MS;
}

/** Whether a mark is not too old for the gate, whoever made it. */
export function isFresh({ ttlSeconds }: Gate, { at }: GateMark, now: Instant): boolean {
  return ttlSeconds === null || Math.abs(now - at) < ttlSeconds * 1000;
}

/** Whether the mark's origin is accepted: the strict decision gate accepts only a decision or the operator. */
function isFitting(gate: Gate, { by }: GateMark): boolean {
  return by !== 'cli' || !needsForce(gate);
}

export const DECISION = 'decision';
export const DECISION_WAITING = 'decision-waiting';

/** Whether a mark by hand needs force, because it would bypass the decision behind the gate. */
export function needsForce({ id, mode }: Gate): boolean {
  return (id === DECISION && mode === 'strict') || id === DECISION_WAITING;
}

/** Whether a mark of this gate is used up by one stop. */
export function isConsumed({ id, mode }: Gate): boolean {
  return id === DECISION && mode === 'strict';
}

/** Finds a hook by name, in any case; null: none. */
export function findHook(text: string): Hook | null {
  return HOOKS.find((hook) => hook.toLowerCase() === text.toLowerCase()) ?? null;
}

/**
 * Which terminal a process runs in, from its environment. Processes with the same result are in one pane or window. Null:
 * unknown.
 */
export function findTerminal(env: Readonly<Record<string, string | undefined>>): string | null {
  if (env.TMUX && env.TMUX_PANE) return `tmux:${env.TMUX.replace(/,[^,]*$/, '')}:${env.TMUX_PANE}`.slice(0, MOST_NAME);
  const other = env.TERM_SESSION_ID || env.WT_SESSION;
  return other ? `term:${other}`.slice(0, MOST_NAME) : null;
}

/** A session's id as it is stored and compared: unchanged, unless it is longer than any that a harness gives. */
export function toSessionKey(session: string): string {
  return session.length <= MOST_NAME ? session : toStem(session);
}

export const MOST_TEXT = 1000;
export const MOST_NAME = 300;
const MOST_TTL_SECONDS = 366 * 86_400;

/** Null if the id is valid for a gate, else why not. */
export function explainInvalidId(id: string): string | null {
  if (/^[a-z0-9_]/.test(id) && toStem(id) === id) return null;
  return 'is not a gate id: use up to 64 of a-z, 0-9, ".", "_" and "-", and do not begin with "." or "-"';
}

/** @throws Fault `usage` that names the field and the value */
export function checkGate(gate: Gate): Gate {
  const why = explainInvalidId(gate.id);
  if (why !== null) throw createRefusal(`${JSON.stringify(gate.id.slice(0, 80))} ${why}`);
  if (gate.id === DECISION_WAITING)
    throw createRefusal(`${DECISION_WAITING} is set by decisions and is not a gate of a hook`);
  if (gate.description.trim() === '') throw createRefusal('the description is empty: describe the condition');
  if (gate.hint?.trim() === '') throw createRefusal('the hint is empty: omit it');
  for (const [field, text] of [
    ['description', gate.description],
    ['hint', gate.hint ?? ''],
  ] as const)
    if (text.length > MOST_TEXT) throw createRefusal(`the ${field} has ${text.length} characters, over ${MOST_TEXT}`);
  if (gate.matcher !== null) {
    if (gate.hook !== 'PreToolUse')
      throw createRefusal(`a tool or command is for gates of PreToolUse, not of ${gate.hook}`);
    const whyNot = explainInvalidMatcher(gate.matcher);
    if (whyNot !== null) throw createRefusal(whyNot);
  }
  const { ttlSeconds: ttl } = gate;
  if (ttl !== null && !isTtl(ttl))
    throw createRefusal(`ttl ${ttl} is not a whole number of seconds up to ${MOST_TTL_SECONDS}`);
  return gate;
}

export function isTtl(ttl: number): boolean {
  return Number.isSafeInteger(ttl) && ttl >= 1 && ttl <= MOST_TTL_SECONDS;
}

function createRefusal(message: string): Fault {
  return new Fault('usage', message, { is: 'machine', key: 'gate' });
}

/** Which tool calls a gate applies to; a field that is null matches all. */
export interface Matcher {
  /** Names of tools, separated by `|`, with `*` for any characters: `Bash`, `Edit|Write`, `mcp__*`. */
  readonly tool: string | null;
  /** A part of the command that the tool is to run, with `*` for any characters: `git push`, `rm * /`. */
  readonly command: string | null;
}

/** A tool call that an agent is about to make. */
export interface AgentToolCall {
  readonly name: string;
  /** The command, for tools that run commands. */
  readonly command: string | null;
}

const MOST_PATTERN = 200;

/** Null if the matcher is valid, else why not. */
export function explainInvalidMatcher({ tool, command }: Matcher): string | null {
  for (const [field, pattern] of [
    ['tool', tool],
    ['command', command],
  ] as const) {
    if (pattern === null) continue;
    if (pattern.trim() === '') return `the ${field} is empty: leave it out for every ${field}`;
    if (pattern.length > MOST_PATTERN) return `the ${field} has ${pattern.length} characters, over ${MOST_PATTERN}`;
    if (/\p{Cc}/u.test(pattern)) return `the ${field} has control characters`;
  }
  if (tool?.split('|').some((name) => name.trim() === '')) return `the tool ${JSON.stringify(tool)} has an empty name`;
  return null;
}

/** Whether a call matches. White space in commands is compared as single blanks, so that two blanks do not evade the gate. */
export function isMatchingCall({ tool, command }: Matcher, call: AgentToolCall): boolean {
  if (tool !== null && !tool.split('|').some((name) => isLike(call.name, name.trim()))) return false;
  return (
    command === null || (call.command !== null && isLike(normalizeSpace(call.command), `*${normalizeSpace(command)}*`))
  );
}

const normalizeSpace = (text: string): string => text.replace(/\s+/g, ' ').trim();

/**
 * Whether the whole text matches the pattern. It is scanned once, and no regular expression is built, so no pattern can be slow.
 */
function isLike(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return text === pattern;
  const last = rest.pop() ?? '';
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const position = text.indexOf(part, at);
    if (position === -1) return false;
    at = position + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/**
 * Whether a call only shows or settles gates and decisions. Denying it would lock the agent out for good. It must be one command
 * of one program, by its plain name, with nothing that a shell would expand, join or redirect.
 */
export function isGateCommand({ command }: AgentToolCall): boolean {
  if (command === null) return false;
  const words = parseWords(command);
  if (words === null) return false;
  const [program, verb] = words;
  return program === 'hivebar' && (verb === 'gate' || verb === 'decision');
}

const WORD = /\s*(?:((?:'[^']*'|"[^"$`\\!]*"|[A-Za-z0-9_@%+=:,./-])+)|$)/y;

/** The words of a command line. Null: a shell would do more than run one program. */
function parseWords(command: string): readonly string[] | null {
  const words: string[] = [];
  const text = command.trim();
  WORD.lastIndex = 0;
  while (WORD.lastIndex < text.length) {
    const from = WORD.lastIndex;
    const [whole, word] = WORD.exec(text) ?? [];
    if (whole === undefined || word === undefined || (from > 0 && !/^\s/.test(whole)) || whole.includes('\n'))
      return null;
    words.push(word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'));
  }
  return words;
}

/** A question of a persona that nobody has answered yet. */
export interface UnansweredDecision {
  readonly id: number;
  readonly prompt: string;
}

/** The open decisions of a persona, oldest first. */
export type OpenDecisionLookup = (persona: PersonaId) => readonly UnansweredDecision[];

/** No open decisions: for gates that are written and not checked. */
export const NO_OPEN_DECISIONS: OpenDecisionLookup = () => [];

/**
 * Removes gates that do not count now. The built-in gate `decision` holds a persona only while a decision of it is open; a
 * registered one always counts. In both cases its description says what is not answered.
 */
export function applyOpenDecisions(
  gateStates: readonly GateState[],
  openDecisions: readonly UnansweredDecision[],
): readonly GateState[] {
  return gateStates.flatMap((gateState) => {
    if (gateState.gate.id !== DECISION) return [gateState];
    const [first] = openDecisions;
    if (first === undefined) return gateState.isBuiltIn ? [] : [gateState];
    const unanswered = formatUnanswered(openDecisions, first);
    const description = gateState.isBuiltIn ? unanswered : `${gateState.gate.description}; ${unanswered}`;
    return [{ ...gateState, gate: { ...gateState.gate, description, hint: `hivebar decision wait ${first.id}` } }];
  });
}

const BEGINNING = 80;
const MOST_NAMED = 5;

function formatUnanswered(openDecisions: readonly UnansweredDecision[], { id, prompt }: UnansweredDecision): string {
  const otherIds = openDecisions.slice(1, MOST_NAMED).map((decision) => decision.id);
  const ending = openDecisions.length > MOST_NAMED ? ' and more' : '';
  const also = otherIds.length === 0 ? '' : `, nor ${otherIds.join(', ')}${ending}`;
  return `decision ${id} ("${shortenPrompt(prompt)}") is not answered${also}`;
}

/** Shortens a prompt to one line of whole code points. */
function shortenPrompt(prompt: string): string {
  const line = prompt.replace(/\s+/g, ' ').trim();
  return line.length <= BEGINNING ? line : `${[...line.slice(0, BEGINNING)].slice(0, -1).join('')}...`;
}
