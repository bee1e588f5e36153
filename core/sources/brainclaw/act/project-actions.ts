import type { ProjectActionName } from '../action-schema.ts';
import type { McpToolCall } from './tool-call.ts';

/** The type of item that an action changes, as the journal calls it; `message` is agent mail, which no journal holds. */
export type ActionItemType = 'candidate' | 'claim' | 'state' | 'plan' | 'message';

/** The values from which a call is built. */
export interface ActionTarget {
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
