import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createNudger, type NudgeResult } from '../../app/hook/index.ts';
import { openItems } from '../../core/inbox/index.ts';
import { realClock, realSpawn, silentLog } from '../../core/ports/index.ts';
import { createRealDisk, openDatabase } from '../../core/state/index.ts';
import type { TrayHome } from './tray-process.ts';

/** The nudger of the tray process over its real state, looked with by hand: so a test knows that it looked. */
export interface TestNudger extends Disposable {
  check(persona: string): Promise<NudgeResult>;
  /** What the one Claude Code of this home says of itself. */
  stateOfAgent(): string;
}

export function createTestNudger(home: TrayHome, env: Readonly<Record<string, string | undefined>>): TestNudger {
  const db = openDatabase(home.at('hivebar.sqlite'));
  const nudger = createNudger({
    ...{
      db,
      items: openItems({ db, clock: realClock }),
      disk: createRealDisk(silentLog),
      clock: realClock,
      spawn: realSpawn,
    },
    dirs: { state: home.dir, run: home.at('run'), config: home.dir },
    ...{ env: { ...env, HIVEBAR_HOME: home.dir }, os: process.platform, stop: AbortSignal.any([]) },
    ways: { tmux: true, codexQueue: true, socket: false },
  });
  return {
    check: (persona) => nudger.nudgeIfDue(persona),
    stateOfAgent() {
      const folder = join(home.home, '.claude', 'sessions');
      const [name = ''] = readdirSync(folder).filter((filename) => filename.endsWith('.json'));
      try {
        return String((JSON.parse(readFileSync(join(folder, name), 'utf8')) as { status?: unknown }).status);
      } catch {
        return ''; // it is being written
      }
    },
    [Symbol.dispose]: () => db[Symbol.dispose](),
  };
}
