import { type Finding, fail, ok } from './finding.ts';

export interface NodeSeen {
  readonly version: string;
  readonly path: string;
}

/** `engines` of package.json. */
const LEAST: readonly [number, number] = [22, 19];

export function judgeNode({ version, path }: NodeSeen): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1])) return ok(`${version} (${path})`);
  return fail(`${version} (${path}) is too old`, `install node ${LEAST.join('.')} or newer`);
}
