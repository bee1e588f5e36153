/** The labels of every series of a daemon, in this order (persona daemon, contract 6). */
export interface PersonaLabels {
  readonly tenant_id: string;
  readonly agent_identity: string;
  readonly agent_surface: string;
  readonly machine_id: string;
}

export type LabelName = keyof PersonaLabels | 'error_class';
export type Labels = readonly (readonly [LabelName, string])[];

const NAMES: readonly LabelName[] = ['tenant_id', 'agent_identity', 'agent_surface', 'machine_id', 'error_class'];
const LONGEST = 64;

/**
 * What happens to an unknown label. Above all `session_id` is unknown, because each of its values would be a series of its own.
 * Tests throw; production drops the label and reports it, so that it is counted.
 */
export type UnknownLabelPolicy = 'throw' | ((name: string) => void);

/**
 * The labels of a series, in the order of the contract.
 * @throws RangeError for an unknown label, if `strange` is `throw`
 */
export function toLabels(values: Readonly<Record<string, string>>, strange: UnknownLabelPolicy): Labels {
  for (const name of Object.keys(values)) {
    if (isLabel(name)) continue;
    if (strange === 'throw') throw new RangeError(`no label of a daemon is called ${name}: use ${NAMES.join(', ')}`);
    strange(name);
  }
  return NAMES.flatMap((name) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return value === undefined ? [] : [[name, toLabelValue(value)] as const];
  });
}

/** Makes a label value: 1 to 64 characters of `[A-Za-z0-9._-]`. It is never empty, because an empty value means no label. */
export function toLabelValue(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, LONGEST) || '_';
}

function isLabel(name: string): name is LabelName {
  return NAMES.some((known) => known === name);
}
