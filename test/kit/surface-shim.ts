import { join } from 'node:path';
import type { ReferenceUpstream, UpstreamPersona } from './upstream/index.ts';

/** The command of a shim that registers with the upstream as an agent's surface, with a heartbeat of its own. */
export function surfaceShim(up: ReferenceUpstream, { tenant, identity, act }: UpstreamPersona): readonly string[] {
  return [process.execPath, join(import.meta.dirname, 'surface-shim.mjs'), up.url, tenant, identity, act];
}
