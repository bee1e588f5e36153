import type { MessageWire, StatusWire } from '../app/status/wire.ts';
import { ask, hasToken } from './token.ts';

/** The newest message of each persona. Only with the token: without it cards say when the last mail came, and not from whom. */
export interface Newest {
  readonly messages: ReadonlyMap<string, MessageWire>;
  /** Loads the messages, when the status says that there are others. */
  update(status: StatusWire): Promise<void>;
}

const TIMEOUT_MS = 5000;
/** While mail comes all the time they are loaded this often. */
const AGAIN_MS = 1000;

export function startNewest(changed: () => void): Newest {
  const messages = new Map<string, MessageWire>();
  let latest: StatusWire | null = null;
  let loadedRev = -1;
  let isLoading = false;

  async function load(status: StatusWire): Promise<void> {
    if (!hasToken() || isLoading || status.rev === loadedRev) return;
    isLoading = true;
    loadedRev = status.rev;
    try {
      const answer = await ask('/api/v1/newest', AbortSignal.timeout(TIMEOUT_MS));
      const { newest } = (await answer.json()) as { newest: Readonly<Record<string, MessageWire>> };
      messages.clear();
      for (const [id, message] of Object.entries(newest)) messages.set(id, message);
      changed();
    } catch {
      // cards show no message, and are complete without
    }
    setTimeout(() => {
      isLoading = false;
      if (latest !== null) void load(latest);
    }, AGAIN_MS);
  }

  return {
    messages,
    async update(status) {
      latest = status;
      await load(status);
    },
  };
}
