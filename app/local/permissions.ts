import type { Board, OpenPermission } from '../../core/board/index.ts';
import { findPermissionWait, type PermissionAnswer } from '../../core/hooks/index.ts';
import { Fault, type PersonaId } from '../../core/model/index.ts';
import type { Machine } from '../host/machine.node.ts';
import type { PermissionRequest, PermissionsApi } from '../status/index.ts';

/** The permission prompts of agents that wait for a person now. */
export interface Permissions extends PermissionsApi {
  /**
   * Answers a prompt, once. @throws Fault `usage` when the prompt is over or was never there, and when a call is allowed that was not
   * shown to its end
   */
  answer(id: string, answer: PermissionAnswer, from: string): { persona: PersonaId; answer: PermissionAnswer };
}

interface PermissionsOptions {
  readonly board: Board;
  /** The setting: without it no hook waits. */
  readonly isOn: () => boolean;
  /** Returns the persona on the board that a session works for; null for none. */
  readonly findPersona: (persona: PersonaId | null, session: string) => PersonaId | null;
}

/** The most prompts at once. More would be no questions of agents, and nobody could answer them. */
const MOST_OPEN = 50;
const ID_BYTES = 16;

interface OpenPrompt {
  readonly permission: OpenPermission;
  end(answer: PermissionAnswer | null): void;
}

/**
 * Keeps the permission prompts whose hooks wait. A prompt lives as long as its hook: it is only in memory, and its hook goes on without
 * an answer when this process ends. So nothing is left of one that is answered in the terminal, or whose session is over.
 */
export function createPermissions(
  { board, isOn, findPersona }: PermissionsOptions,
  { clock, log, random }: Pick<Machine, 'clock' | 'log' | 'random'>,
): Permissions {
  const open = new Map<string, OpenPrompt>();
  let count = 0;

  const list = (): readonly OpenPermission[] => [...open.values()].map(({ permission }) => permission);
  const show = (): void => board.put({ is: 'permissions', at: clock.now(), permissions: list() });

  function ask(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer | null> {
    const persona = findPersona(request.persona, request.session);
    const waitMs = findPermissionWait(request.harness);
    if (!isOn() || persona === null || waitMs === null || open.size >= MOST_OPEN || signal.aborted)
      return Promise.resolve(null);
    count += 1;
    const { harness, subagent: isSubagent, cwd, tool, text, cut } = request;
    const created = clock.now();
    const permission: OpenPermission = {
      ...{ id: random.hex(ID_BYTES), number: count, persona, harness, isSubagent, cwd, tool, text, cut, created },
      expires: created + waitMs,
    };
    return new Promise((resolve) => {
      const end = (answer: PermissionAnswer | null): void => {
        if (!open.delete(permission.id)) return;
        timer[Symbol.dispose]();
        signal.removeEventListener('abort', leave);
        show();
        resolve(answer);
      };
      const leave = (): void => end(null);
      const timer = clock.after(waitMs, leave);
      signal.addEventListener('abort', leave, { once: true });
      open.set(permission.id, { permission, end });
      show();
    });
  }

  return {
    list,
    ask,
    answer(id, answer, from) {
      const prompt = open.get(id);
      if (prompt === undefined)
        throw createPermitFault('this prompt is over: it was answered, or its agent went on without an answer');
      const { persona, harness, tool, text, cut, number } = prompt.permission;
      if (answer === 'allow' && cut > 0)
        throw createPermitFault(`${cut} characters of this call were not shown: answer it in the terminal`);
      log.info(`permission ${number} of ${persona} (${harness}): ${VERBS[answer]} from the ${from}: ${tool}: ${text}`);
      prompt.end(answer);
      return { persona, answer };
    },
  };
}

const VERBS: Readonly<Record<PermissionAnswer, string>> = {
  allow: 'allowed',
  deny: 'denied',
  terminal: 'left to the terminal',
};

function createPermitFault(message: string): Fault {
  return new Fault('usage', message, { is: 'machine', key: 'permission' });
}
