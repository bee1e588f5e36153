import type { OpenPermission } from '../../core/board/index.ts';
import { toPermissionKey, toWaitKey } from './channels/index.ts';
import type { PolicyDraft } from './draft.ts';
import type { PermissionState } from './state.ts';

/** A wait whose banner gives way to one that can be answered. */
export const PERMISSION = 'permission';

/**
 * Takes the list of all permission prompts that can be answered here. One that is not in it has ended. A prompt takes the place of the
 * banner that says that its agent waits, which comes after it when the agent still waits then: its terminal asks.
 */
export function updatePermissions(draft: PolicyDraft, permissions: readonly OpenPermission[]): void {
  const open = new Map(permissions.map((permission) => [toPermissionKey(permission.number), permission]));
  for (const ask of Object.values(draft.state.asks)) {
    if (ask.kind !== 'permission' || open.has(ask.key)) continue;
    draft.setAsk(ask.key, null);
    holdWait(draft, ask);
  }
  for (const [key, { id, persona, tool, text, cut, created }] of open) {
    if (draft.state.asks[key] !== undefined) continue;
    draft.setAsk(key, {
      ...{ kind: 'permission', key, id, persona, tool, text, cut, created, receivedAt: draft.at },
      ...{ announceState: 'not yet', banner: 'own' },
    });
  }
}

/** The agent goes on a moment after the answer, and its banner must not come in between. */
function holdWait(draft: PolicyDraft, { persona }: PermissionState): void {
  const key = toWaitKey(persona);
  const wait = draft.state.asks[key];
  if (wait?.kind === 'wait' && wait.why === PERMISSION)
    draft.setAsk(key, { ...wait, announceState: 'not yet', banner: 'own', isHeld: true, receivedAt: draft.at });
}

/** Returns whether another banner of this persona asks the same and can be answered. */
export function hasPermission({ state }: PolicyDraft, persona: string): boolean {
  return Object.values(state.asks).some((ask) => ask.kind === 'permission' && ask.persona === persona);
}
