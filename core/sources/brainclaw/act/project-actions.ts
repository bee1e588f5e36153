import { Fault } from '../../../model/index.ts';
import type { Log } from '../../../ports/index.ts';
import { LONGEST_TEXT, type ProjectActionName, type ProjectActionRequest } from '../action-schema.ts';
import { parseSeed, type Seed } from '../read/index.ts';
import type { ActionClient } from './client.ts';
import { BOARD_SUMMARY, formatToolCall, type McpToolCall } from './session.ts';

/** The type of item that an action changes, as the journal calls it; `message` is agent mail, which no journal holds. */
type ActionItemType = 'candidate' | 'claim' | 'state' | 'plan' | 'message';

/** The values from which a call is built. */
interface ActionTarget {
  readonly itemType: ActionItemType;
  readonly id: string;
  /** Null when no text goes with the action. */
  readonly text: string | null;
  /** The step of a plan; null when none is named. */
  readonly step: string | null;
  /** Who acts: a person, never an agent (observer protocol 8). */
  readonly principal: string;
}

interface ActionForm {
  readonly call: (target: ActionTarget) => McpToolCall;
  /** The words of brainclaw's own command that does the same; null when it has none. */
  readonly shell: ((target: ActionTarget) => readonly string[]) | null;
}

export interface ProjectAction {
  readonly does: string;
  /** The item types that the action applies to. */
  readonly to: Readonly<Partial<Record<ActionItemType, ActionForm>>>;
  readonly takes: { readonly text: boolean; readonly step: boolean };
}

const toReason = ({ text }: ActionTarget): Record<string, string> => (text === null ? {} : { reason: text });

const createTransition = (entity: string, to: string, shell: ActionForm['shell']): ActionForm => ({
  call: (target) => ({ tool: 'bclaw_transition', arguments: { entity, id: target.id, to, ...toReason(target) } }),
  shell,
});

const createAnswer = (outcome: string): ActionForm => ({
  call: ({ id, text, principal }) => ({
    tool: 'bclaw_assignment_action',
    arguments: { action_id: id, outcome, ...(text === null ? {} : { text }), agent: principal },
  }),
  shell: null,
});

const createPlanAction = (does: string, to: string): ProjectAction => ({
  does,
  to: { plan: createTransition('plan', to, ({ id }) => ['plan', 'update', id, '--status', to]) },
  takes: { text: true, step: false },
});

/** The arguments that name the reviewer of a candidate. */
const toReviewerArgs = ({ principal }: ActionTarget): readonly string[] => ['--by', principal];

/**
 * All actions on a project, by our names for them. Tools and arguments are those of brainclaw's own catalogue;
 * docs/decisions/0066-acting-on-a-project.md names the pages that they come from.
 */
export const PROJECT_ACTIONS = {
  accept: {
    does: 'accepts a candidate',
    to: {
      candidate: createTransition('candidate', 'accepted', (target) => [
        'accept',
        target.id,
        ...toReviewerArgs(target),
      ]),
    },
    takes: { text: true, step: false },
  },
  reject: {
    does: 'rejects a candidate, or what an action asks for',
    to: {
      candidate: createTransition('candidate', 'rejected', (target) => [
        ...['reject', target.id, ...toReviewerArgs(target)],
        ...(target.text === null ? [] : ['--reason', target.text]),
      ]),
      state: createAnswer('rejected'),
    },
    takes: { text: true, step: false },
  },
  resolve: {
    does: 'grants what an action asks for, or answers it',
    to: { state: createAnswer('resolved') },
    takes: { text: true, step: false },
  },
  cancel: { does: 'withdraws an action', to: { state: createAnswer('cancelled') }, takes: { text: true, step: false } },
  release: {
    does: 'releases the claim of an agent',
    to: {
      claim: {
        // A claim belongs to its agent. The call has to say that somebody else ends it, and brainclaw records that.
        call: ({ id }) => ({ tool: 'bclaw_release_claim', arguments: { id, coordinator_override: true } }),
        shell: ({ id }) => ['claim', 'release', id],
      },
    },
    takes: { text: false, step: false },
  },
  start: createPlanAction('a plan is in progress', 'in_progress'),
  finish: createPlanAction('a plan is done', 'done'),
  block: createPlanAction('a plan is blocked', 'blocked'),
  drop: createPlanAction('a plan is dropped', 'dropped'),
  'complete-step': {
    does: 'a step of a plan is done',
    to: {
      plan: {
        call: ({ id, step, principal }) => ({
          tool: 'bclaw_complete_step',
          arguments: { planId: id, stepId: step ?? '', agent: principal },
        }),
        shell: ({ id, step }) => ['complete-step', id, step ?? ''],
      },
    },
    takes: { text: false, step: true },
  },
  ack: {
    does: 'acknowledges a message to yourself',
    to: {
      message: {
        call: ({ id, principal }) => ({ tool: 'bclaw_ack_message', arguments: { id, agent: principal } }),
        shell: ({ id, principal }) => ['inbox', 'ack', id, '--agent', principal],
      },
    },
    takes: { text: false, step: false },
  },
} as const satisfies Record<ProjectActionName, ProjectAction>;

export const isProjectAction = (word: string): word is ProjectActionName => Object.hasOwn(PROJECT_ACTIONS, word);

/** A request that can be carried out: the tool call, and brainclaw's own command for it. */
export interface ProjectActionCall {
  readonly call: McpToolCall;
  /** The words of a command line, of which `brainclaw` is the first. Null when brainclaw has no such command. */
  readonly shell: readonly string[] | null;
}

/** How the ids of each type begin, before `_` or `#` (brainclaw's registry of entities). */
const PREFIX = { cnd: 'candidate', clm: 'claim', act: 'state', pln: 'plan', msg: 'message' } as const;

const NAMES: Readonly<Record<string, ActionItemType>> = {
  candidate: 'candidate',
  claim: 'claim',
  state: 'state',
  action: 'state',
  plan: 'plan',
  message: 'message',
};

/** @throws Fault `usage` for what cannot be done; the message says what can */
export function toProjectActionCall(request: ProjectActionRequest, principal: string): ProjectActionCall {
  const action: ProjectAction = PROJECT_ACTIONS[request.do];
  const { itemType, id } = parseItem(request.item);
  const form = action.to[itemType];
  if (form === undefined)
    throw createRefusal(
      `${request.do} ${action.does}, and ${request.item} is a ${itemType}: use the id of a ${formatTypes(action)}`,
    );
  const { text, step } = request;
  const { takes } = action;
  if (text !== null && !takes.text) throw createRefusal(`${request.do} does not accept a text`);
  if (text !== null && text.length > LONGEST_TEXT)
    throw createRefusal(`the text has ${text.length} characters, over ${LONGEST_TEXT}`);
  if (step !== null && !takes.step) throw createRefusal(`${request.do} does not accept a step`);
  if (takes.step && (step === null || !isId(step))) throw createRefusal(`${request.do} needs the id of a step: stp_12`);
  const target: ActionTarget = { itemType, id, text, step, principal };
  return { call: form.call(target), shell: form.shell === null ? null : ['brainclaw', ...form.shell(target)] };
}

function parseItem(item: string): { readonly itemType: ActionItemType; readonly id: string } {
  const [, typeName, named] = /^([a-z]+):(.+)$/su.exec(item) ?? [];
  const id = named ?? item;
  if (!isId(id)) throw createRefusal(`${JSON.stringify(item.slice(0, 100))} is not the id of an item`);
  if (typeName !== undefined) {
    const itemType = Object.hasOwn(NAMES, typeName) ? NAMES[typeName] : undefined;
    if (itemType === undefined)
      throw createRefusal(`unknown item type ${typeName}: use ${Object.keys(NAMES).join(', ')}`);
    return { itemType, id };
  }
  const begin = /^([a-z]{3})[_#]/u.exec(id)?.[1] ?? '';
  if (!Object.hasOwn(PREFIX, begin))
    throw createRefusal(`the type of ${id} is unknown: put it before the id, for example candidate:${id}`);
  return { itemType: PREFIX[begin as keyof typeof PREFIX], id };
}

/** An id has no option sign, no blank, and nothing that a terminal acts on. */
const isId = (text: string): boolean => /^[\p{L}\p{N}][\p{L}\p{N}_#.:-]{0,199}$/u.test(text);

const formatTypes = (action: ProjectAction): string =>
  Object.keys(action.to)
    .map((type) => (type === 'state' ? 'action' : type))
    .join(' or ');

const createRefusal = (message: string): Fault =>
  new Fault('usage', message, { is: 'machine', key: 'brainclaw-action' });

/** Brainclaw accepted the call. The effect shows on the board when its record is in the journal (observer protocol 7). */
export interface ProjectActionResult {
  readonly accepted: true;
  readonly tool: string;
  /** Brainclaw's own answer, cut. */
  readonly says: string;
}

const MOST_ANSWER_CHARS = 2000;

/**
 * Carries out a request of a person.
 * @param root the folder of the project
 * @throws Fault `usage` for what cannot be done; `brainclaw-missing`, with the call for doing it by hand; `brainclaw-gone`,
 * `brainclaw-refused`; and the reason of `signal`
 */
export async function runProjectAction(
  client: ActionClient,
  root: string,
  request: ProjectActionRequest,
  principal: string,
  signal: AbortSignal,
): Promise<ProjectActionResult> {
  const actionCall = toProjectActionCall(request, principal);
  try {
    const { text } = await client.call(actionCall.call, signal);
    return { accepted: true, tool: actionCall.call.tool, says: text.slice(0, MOST_ANSWER_CHARS).toWellFormed() };
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'brainclaw-missing') throw error;
    const shell = actionCall.shell === null ? '' : `, or ${formatShellLine(root, actionCall.shell)}`;
    const message = `${error.message}; the call is ${formatToolCall(actionCall.call)}${shell}`;
    throw new Fault('brainclaw-missing', message, error.scope, { cause: error });
  }
}

/** A command that a person can copy into a shell, from any folder. */
export function formatShellLine(folder: string, words: readonly string[]): string {
  return `cd ${quoteWord(folder)} && ${words.map(quoteWord).join(' ')}`;
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * Asks brainclaw once for what the journal cannot say (brainclaw contract 9). Null when there was no answer; the log says why.
 * Never rejects.
 */
export async function readSeed(
  client: ActionClient,
  root: string,
  log: Log,
  signal: AbortSignal,
): Promise<Seed | null> {
  try {
    const { structured } = await client.call(BOARD_SUMMARY, signal);
    const seed = parseSeed(structured);
    if (seed === null) log.warn(`brainclaw mcp in ${root} returned a board_summary without numbers, so it is ignored`);
    return seed;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log.warn(`the board of ${root} is shown without the counts of brainclaw mcp: ${why}`);
    return null;
  }
}
