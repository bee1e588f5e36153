import type { XStatic } from 'typebox/schema';

export const LONGEST_TEXT = 10_000;

/** What can be done to an item of a project, by our names (`act/project-actions.ts`). */
export const PROJECT_ACTION_NAMES = [
  ...(['accept', 'reject', 'resolve', 'cancel', 'release'] as const),
  ...(['start', 'finish', 'block', 'drop', 'complete-step', 'ack'] as const),
] as const;

export type ProjectActionName = (typeof PROJECT_ACTION_NAMES)[number];

export const ACTION_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    project: { type: 'string', minLength: 1 },
    do: { enum: PROJECT_ACTION_NAMES },
    item: { type: 'string', minLength: 1, maxLength: 250 },
    text: { type: 'string', maxLength: LONGEST_TEXT },
    step: { type: 'string', minLength: 1, maxLength: 200 },
  },
  required: ['project', 'do', 'item'],
} as const;

/** What somebody asks to be done to an item, as given on a command line or over the wire. */
export interface ProjectActionRequest {
  readonly do: ProjectActionName;
  /** `cnd_12`, or with the type in front: `candidate:cnd_12`. */
  readonly item: string;
  readonly text: string | null;
  readonly step: string | null;
}

/** Reads the params of the action. They fit the schema. */
export function parseActionParams(params: unknown): {
  readonly project: string;
  readonly request: ProjectActionRequest;
} {
  const { project, do: name, item, text = null, step = null } = params as XStatic<typeof ACTION_PARAMS>;
  return { project, request: { do: name, item, text, step } };
}
