import { join } from 'node:path';
import { realFiles } from '../../core/ports/index.ts';
import {
  createAgentMailReader,
  createJournalReader,
  type ProjectSheet,
  toProjectSheet,
} from '../../core/sources/brainclaw/index.ts';
import type { WatchedProject } from '../../core/sources/module.ts';
import { DATA, viewed } from './brainclaw-store.ts';

export type LabProject = WatchedProject & { readonly sheet: ProjectSheet | null };

/** The project of the test data, as the tray process would have it. */
export function labProject(): LabProject {
  const root = join(DATA, 'journal');
  const store = join(root, '.brainclaw');
  const view = viewed(createJournalReader(realFiles, join(store, 'events')));
  const mail = createAgentMailReader(realFiles, join(store, 'coordination', 'inbox'), (text) => text).read();
  const sheet = toProjectSheet({ view, mail, seed: null });
  return {
    ...{ id: 'bc-lab', board: 'bc-lab', label: 'journal', root, sheet, rev: 'r1' },
    sheetAt: (page) => toProjectSheet({ view, mail, seed: null, page }),
    defects: ['x'],
    acts: false,
  };
}
