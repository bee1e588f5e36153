import type { Until } from '../../core/board/index.ts';
import type { PersonaId } from '../../core/model/index.ts';

/** What the actions act on: the running tray process, as compose builds it. */
export interface House {
  /** Looks now: at one persona, or at every inbox of every source. False when there is no such persona. */
  poll(persona: PersonaId | null): boolean;
  /** Mail may have been written to the local hive by another process. */
  hiveChanged(): void;
  /** Notifications off until then; `never` = on. */
  pause(until: Until): void;
  openPage(persona: PersonaId | null, activationToken: string | null): Promise<void>;
  quit(): void;
}
