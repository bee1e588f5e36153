import type { Clock } from '../../../core/ports/index.ts';
import type { DoctorQuestion } from '../../../core/sources/module.ts';
import type { DoctorContext } from './doctor-context.ts';
import { type Finding, fail, warn } from './finding.ts';

export type { DoctorQuestion };
export const QUESTIONS: readonly DoctorQuestion[] = ['icon', 'banner', 'mail'];

/** One check: a probe that only reads, and a pure function that judges the result. */
export interface CheckDefinition<Result> {
  readonly name: string;
  /** The questions that a failure can explain. */
  readonly about: readonly DoctorQuestion[];
  /** The questions that a warning can explain. Default: `about`. */
  readonly hints?: readonly DoctorQuestion[];
  /** Ends soon after the signal aborts. It changes nothing. An error that it throws becomes the finding. */
  probe(context: DoctorContext, signal: AbortSignal): Promise<Result>;
  judge(result: Result): Finding;
}

export interface DoctorCheck {
  readonly name: string;
  readonly about: readonly DoctorQuestion[];
  readonly hints: readonly DoctorQuestion[];
  run(context: DoctorContext, signal: AbortSignal): Promise<Finding>;
}

/** Creates a check and hides the type of its probe result. */
export function defineCheck<Result>({
  name,
  about,
  hints = about,
  probe,
  judge,
}: CheckDefinition<Result>): DoctorCheck {
  return { name, about, hints, run: async (context, signal) => judge(await probe(context, signal)) };
}

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
