import type { Clock } from '../../../core/ports/index.ts';
import type { Check, Question } from './check.ts';
import { type Finding, fail, warn } from './finding.ts';
import type { Scene } from './scene.ts';

export interface Examined {
  readonly name: string;
  /** What this finding can be the reason for. */
  readonly about: readonly Question[];
  readonly finding: Finding;
}

/** No check may take longer, in milliseconds. */
export const LIMIT_MS = 3000;

/** Runs all checks at the same time, each within its limit, and keeps their order. Never rejects for a check. */
export function examine(checks: readonly Check[], scene: Scene): Promise<readonly Examined[]> {
  return Promise.all(
    checks.map(async (each) => {
      const finding = await within(each, scene);
      return { name: each.name, about: finding.is === 'warn' ? each.hints : each.about, finding };
    }),
  );
}

async function within(check: Check, scene: Scene): Promise<Finding> {
  const stop = new AbortController();
  const { timer, over } = limit(scene.clock);
  try {
    return await Promise.race([check.run(scene, stop.signal), over]);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return fail(`the check itself failed: ${why}`, 'report this with the output of `hivebar doctor --json`');
  } finally {
    timer[Symbol.dispose]();
    stop.abort();
  }
}

function limit(clock: Clock): { readonly timer: Disposable; readonly over: Promise<Finding> } {
  const { promise, resolve } = Promise.withResolvers<Finding>();
  const late = warn(`no answer within ${LIMIT_MS / 1000} s`, 'something hangs: see whether it is so a second time');
  return { timer: clock.after(LIMIT_MS, () => resolve(late)), over: promise };
}
