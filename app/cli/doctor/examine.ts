import type { Clock } from '../../../core/ports/index.ts';
import type { DoctorCheck, DoctorQuestion } from './check.ts';
import type { DoctorContext } from './doctor-context.ts';
import { type Finding, fail, warn } from './finding.ts';

export interface CheckResult {
  readonly name: string;
  /** The questions that this finding can explain. */
  readonly about: readonly DoctorQuestion[];
  readonly finding: Finding;
}

/** The limit of each check in milliseconds. */
export const LIMIT_MS = 3000;

/** Runs all checks at the same time, each within its limit, and keeps their order. It never rejects because of a check. */
export function examine(checks: readonly DoctorCheck[], context: DoctorContext): Promise<readonly CheckResult[]> {
  return Promise.all(
    checks.map(async (each) => {
      const finding = await runCheck(each, context);
      return { name: each.name, about: finding.is === 'warn' ? each.hints : each.about, finding };
    }),
  );
}

async function runCheck(check: DoctorCheck, context: DoctorContext): Promise<Finding> {
  const stop = new AbortController();
  const { timer, over } = createLimit(context.clock);
  try {
    return await Promise.race([check.run(context, stop.signal), over]);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return fail(`the check itself failed: ${why}`, 'report this with the output of `hivebar doctor --json`');
  } finally {
    timer[Symbol.dispose]();
    stop.abort();
  }
}

function createLimit(clock: Clock): { readonly timer: Disposable; readonly over: Promise<Finding> } {
  const { promise, resolve } = Promise.withResolvers<Finding>();
  const late = warn(
    `no answer within ${LIMIT_MS / 1000} s`,
    'run hivebar doctor again; if this repeats, something hangs',
  );
  return { timer: clock.after(LIMIT_MS, () => resolve(late)), over: promise };
}
