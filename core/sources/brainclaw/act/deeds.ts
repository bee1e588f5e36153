import type { Call } from './call.ts';

/** What a deed is done to, as the journal calls it; `message` is agent mail, which no journal holds. */
export type ItemType = 'candidate' | 'claim' | 'state' | 'plan' | 'message';

/** What a call is made of. */
export interface Aim {
  readonly itemType: ItemType;
  readonly id: string;
  /** Null: nothing is said with it. */
  readonly text: string | null;
  /** Of a plan; null: none is named. */
  readonly step: string | null;
  /** Who does it: a person, never an agent (observer protocol 8). */
  readonly principal: string;
}

interface Form {
  readonly call: (aim: Aim) => Call;
  /** The words of brainclaw's own command that does the same; null: it has none. */
  readonly shell: ((aim: Aim) => readonly string[]) | null;
}

export interface Deed {
  readonly does: string;
  /** What it can be done to. */
  readonly to: Readonly<Partial<Record<ItemType, Form>>>;
  readonly takes: { readonly text: boolean; readonly step: boolean };
}

const reasonOf = ({ text }: Aim): Record<string, string> => (text === null ? {} : { reason: text });

const transition = (entity: string, to: string, shell: Form['shell']): Form => ({
  call: (aim) => ({ tool: 'bclaw_transition', arguments: { entity, id: aim.id, to, ...reasonOf(aim) } }),
  shell,
});

const answer = (outcome: string): Form => ({
  call: ({ id, text, principal }) => ({
    tool: 'bclaw_assignment_action',
    arguments: { action_id: id, outcome, ...(text === null ? {} : { text }), agent: principal },
  }),
  shell: null,
});

const plan = (does: string, to: string): Deed => ({
  does,
  to: { plan: transition('plan', to, ({ id }) => ['plan', 'update', id, '--status', to]) },
  takes: { text: true, step: false },
});

/** Of whoever reviews a candidate. */
const by = ({ principal }: Aim): readonly string[] => ['--by', principal];

/**
 * Everything that is done to a project, by our names for it. Tools and arguments are those of brainclaw's own catalogue;
 * docs/DECISIONS.md names the page each was read in.
 */
export const DEEDS = {
  accept: {
    does: 'accepts a candidate',
    to: { candidate: transition('candidate', 'accepted', (aim) => ['accept', aim.id, ...by(aim)]) },
    takes: { text: true, step: false },
  },
  reject: {
    does: 'rejects a candidate, or what an action asks for',
    to: {
      candidate: transition('candidate', 'rejected', (aim) => [
        ...['reject', aim.id, ...by(aim)],
        ...(aim.text === null ? [] : ['--reason', aim.text]),
      ]),
      state: answer('rejected'),
    },
    takes: { text: true, step: false },
  },
  resolve: {
    does: 'grants what an action asks for, or answers it',
    to: { state: answer('resolved') },
    takes: { text: true, step: false },
  },
  cancel: { does: 'withdraws an action', to: { state: answer('cancelled') }, takes: { text: true, step: false } },
  release: {
    does: 'releases the claim of an agent',
    to: {
      claim: {
        // A claim is its agent's; that another ends it has to be said, and brainclaw keeps account of it.
        call: ({ id }) => ({ tool: 'bclaw_release_claim', arguments: { id, coordinator_override: true } }),
        shell: ({ id }) => ['claim', 'release', id],
      },
    },
    takes: { text: false, step: false },
  },
  start: plan('a plan is in progress', 'in_progress'),
  finish: plan('a plan is done', 'done'),
  block: plan('a plan is blocked', 'blocked'),
  drop: plan('a plan is dropped', 'dropped'),
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
} as const satisfies Record<string, Deed>;

export type DeedName = keyof typeof DEEDS;

export const DEED_NAMES = Object.keys(DEEDS) as readonly DeedName[];

export const isDeed = (word: string): word is DeedName => Object.hasOwn(DEEDS, word);
