import { Fault } from '../../../model/index.ts';
import type { Call } from './call.ts';
import { type Aim, DEEDS, type Deed, type DeedName, type ItemType } from './deeds.ts';

/** What somebody wants done, as said on a command line or over the wire. */
export interface Wish {
  readonly do: DeedName;
  /** `cnd_12`, or with its type before it: `candidate:cnd_12`. */
  readonly item: string;
  readonly text: string | null;
  readonly step: string | null;
}

/** A wish that can be done: the call, and brainclaw's own command for it. */
export interface Errand {
  readonly call: Call;
  /** Words of a command line, of which `brainclaw` is the first; null: brainclaw has no such command. */
  readonly shell: readonly string[] | null;
}

/** How the ids of each type begin, `_` or `#` after it (brainclaw's registry of entities). */
const PREFIX = { cnd: 'candidate', clm: 'claim', act: 'state', pln: 'plan', msg: 'message' } as const;

const NAMES: Readonly<Record<string, ItemType>> = {
  candidate: 'candidate',
  claim: 'claim',
  state: 'state',
  action: 'state',
  plan: 'plan',
  message: 'message',
};

export const LONGEST_TEXT = 10_000;

/** @throws Fault `usage` for what can not be done, with what can */
export function errandFor(wish: Wish, principal: string): Errand {
  const deed: Deed = DEEDS[wish.do];
  const { itemType, id } = itemIn(wish.item);
  const form = deed.to[itemType];
  if (form === undefined)
    throw refusal(`${wish.do} ${deed.does}, and ${wish.item} is a ${itemType}: ${wish.do} takes ${typesOf(deed)}`);
  const { text, step } = wish;
  const { takes } = deed;
  if (text !== null && !takes.text) throw refusal(`${wish.do} takes no text`);
  if (text !== null && text.length > LONGEST_TEXT)
    throw refusal(`the text has ${text.length} characters, ${LONGEST_TEXT} are the most`);
  if (step !== null && !takes.step) throw refusal(`${wish.do} takes no step`);
  if (takes.step && (step === null || !isId(step))) throw refusal(`${wish.do} needs the id of a step: stp_12`);
  const aim: Aim = { itemType, id, text, step, principal };
  return { call: form.call(aim), shell: form.shell === null ? null : ['brainclaw', ...form.shell(aim)] };
}

function itemIn(item: string): { readonly itemType: ItemType; readonly id: string } {
  const [, said, named] = /^([a-z]+):(.+)$/su.exec(item) ?? [];
  const id = named ?? item;
  if (!isId(id)) throw refusal(`${JSON.stringify(item.slice(0, 100))} is no id of an item`);
  if (said !== undefined) {
    const itemType = Object.hasOwn(NAMES, said) ? NAMES[said] : undefined;
    if (itemType === undefined)
      throw refusal(`nothing is done here to a ${said}: name a ${Object.keys(NAMES).join(', ')}`);
    return { itemType, id };
  }
  const begin = /^([a-z]{3})[_#]/u.exec(id)?.[1] ?? '';
  if (!Object.hasOwn(PREFIX, begin))
    throw refusal(`of what type is ${id}? Say it before the id, as in candidate:${id}`);
  return { itemType: PREFIX[begin as keyof typeof PREFIX], id };
}

/** No option, no blank, nothing that a terminal acts on. */
const isId = (text: string): boolean => /^[\p{L}\p{N}][\p{L}\p{N}_#.:-]{0,199}$/u.test(text);

const typesOf = (deed: Deed): string =>
  Object.keys(deed.to)
    .map((type) => (type === 'state' ? 'action' : type))
    .join(' or ');

const refusal = (what: string): Fault => new Fault('usage', what, { is: 'machine', key: 'brainclaw-action' });
