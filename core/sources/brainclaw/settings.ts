import type { XStatic } from 'typebox/schema';

/** The name of this source, and its setting. */
export const BRAINCLAW = 'brainclaw';
export const BRAINCLAW_PREFIX = 'bc-';

/**
 * Projects that brainclaw keeps. Only projects that a person names are watched, and those below a folder that a person names.
 */
const PROJECTS = {
  type: 'object',
  properties: {
    is: { enum: ['on', 'off'] },
    /** Folders that hold a `.brainclaw`. */
    projects: { type: 'array', items: { type: 'string', minLength: 1 } },
    /** Folders below which Hivebar looks for projects. */
    roots: { type: 'array', items: { type: 'string', minLength: 1 } },
    /** How many folders below a root a project can lie. Default: 3. */
    depth: { type: 'integer', minimum: 0, maximum: 8 },
    /** Whether mail in the store is read; if false, only its journal is read. Default: true. */
    mail: { type: 'boolean' },
    /** Whether Hivebar starts brainclaw for actions that a person asks for. Default: false. */
    actions: { type: 'boolean' },
    /** Deliver what already asks for a person when a project is first seen. */
    backfill: { type: 'boolean' },
  },
  required: ['is'],
  additionalProperties: false,
  default: { is: 'off' },
  description: 'the brainclaw projects that are watched',
} as const;

export const BRAINCLAW_SETTINGS = { brainclaw: PROJECTS } as const;

export interface BrainclawSettings {
  readonly brainclaw: XStatic<typeof PROJECTS>;
}
