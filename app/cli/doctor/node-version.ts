import { OLDEST_NODE } from '../../oldest-node.ts';
import { type Finding, fail, ok } from './finding.ts';

export interface NodeProbe {
  readonly version: string;
  readonly path: string;
}

export function judgeNode({ version, path }: NodeProbe): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]))
    return ok(`${version} (${path})`);
  return fail(`${version} (${path}) is too old`, `install Node ${OLDEST_NODE.join('.')} or newer`);
}
