import { join } from 'node:path';
import type { ProjectSeen } from '../../app/status/index.ts';
import { realFiles } from '../../core/ports/index.ts';
import { keepAgentMail, keepJournal, sheetOf } from '../../core/sources/brainclaw/index.ts';
import { DATA, viewed } from './brainclaw-store.ts';

/** The project of the test data, as the tray process would have it. */
export function labProject(): ProjectSeen {
  const root = join(DATA, 'journal');
  const store = join(root, '.brainclaw');
  const view = viewed(keepJournal(realFiles, join(store, 'events')));
  const mail = keepAgentMail(realFiles, join(store, 'coordination', 'inbox'), (text) => text).look();
  const sheet = sheetOf({ view, mail, seed: null });
  return {
    ...{ id: 'bc-lab', board: 'bc-lab', label: 'journal', root, sheet, rev: 'r1' },
    sheetAt: (page) => sheetOf({ view, mail, seed: null, page }),
    defects: ['x'],
    acts: false,
  };
}
