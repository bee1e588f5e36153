import { type Finding, fail, ok } from './finding.ts';

export interface NodeSeen {
  readonly version: string;
  readonly path: string;
}

/** `engines` of package.json. */
const OLDEST: readonly [number, number] = [24, 15];

export function judgeNode({ version, path }: NodeSeen): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return ok(`${version} (${path})`);
  return fail(`${version} (${path}) is too old`, `install Node ${OLDEST.join('.')} or newer`);
}
