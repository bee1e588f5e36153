import { Fault } from '../../../model/index.ts';
import { LONGEST_TEXT, type ProjectActionRequest } from '../action-schema.ts';
import { type ActionItemType, type ActionTarget, PROJECT_ACTIONS, type ProjectAction } from './project-actions.ts';
import type { McpToolCall } from './tool-call.ts';

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
      `${request.do} ${action.does}, and ${request.item} is a ${itemType}: ${request.do} takes ${formatTypes(action)}`,
    );
  const { text, step } = request;
  const { takes } = action;
  if (text !== null && !takes.text) throw createRefusal(`${request.do} takes no text`);
  if (text !== null && text.length > LONGEST_TEXT)
    throw createRefusal(`the text has ${text.length} characters, ${LONGEST_TEXT} are the most`);
  if (step !== null && !takes.step) throw createRefusal(`${request.do} takes no step`);
  if (takes.step && (step === null || !isId(step))) throw createRefusal(`${request.do} needs the id of a step: stp_12`);
  const target: ActionTarget = { itemType, id, text, step, principal };
  return { call: form.call(target), shell: form.shell === null ? null : ['brainclaw', ...form.shell(target)] };
}

function parseItem(item: string): { readonly itemType: ActionItemType; readonly id: string } {
  const [, typeName, named] = /^([a-z]+):(.+)$/su.exec(item) ?? [];
  const id = named ?? item;
  if (!isId(id)) throw createRefusal(`${JSON.stringify(item.slice(0, 100))} is no id of an item`);
  if (typeName !== undefined) {
    const itemType = Object.hasOwn(NAMES, typeName) ? NAMES[typeName] : undefined;
    if (itemType === undefined)
      throw createRefusal(`nothing is done here to a ${typeName}: name a ${Object.keys(NAMES).join(', ')}`);
    return { itemType, id };
  }
  const begin = /^([a-z]{3})[_#]/u.exec(id)?.[1] ?? '';
  if (!Object.hasOwn(PREFIX, begin))
    throw createRefusal(`of what type is ${id}? Say it before the id, as in candidate:${id}`);
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
