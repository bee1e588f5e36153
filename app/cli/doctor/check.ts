import { displayName } from '../../../core/format/index.ts';
import type { Clock } from '../../../core/ports/index.ts';
import type { DoctorQuestion } from '../../../core/sources/module.ts';
import { type DoctorContext, type Finding, fail, warn } from './doctor-context.ts';

export type { DoctorQuestion };
export const QUESTIONS: readonly DoctorQuestion[] = ['icon', 'banner', 'mail'];

/** One check: a probe that only reads, and a pure function that judges the result. */
interface CheckDefinition<Result> {
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

interface CheckResult {
  readonly name: string;
  /** The questions that this finding can explain. */
  readonly about: readonly DoctorQuestion[];
  readonly finding: Finding;
}

/** The limit of each check in milliseconds. */
const LIMIT_MS = 3000;

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
    `timed out after ${LIMIT_MS / 1000} s`,
    'run hivebar doctor again; if this repeats, report it with the output of `hivebar doctor --json`',
  );
  return { timer: clock.after(LIMIT_MS, () => resolve(late)), over: promise };
}

/** 0: all checks pass, or only warn; 1: a check fails. */
export function toExitCode(results: readonly CheckResult[]): 0 | 1 {
  return results.some(({ finding }) => finding.is === 'fail') ? 1 : 0;
}

/** Formats one line per check, the next step below it, and a summary for a person who misses something. */
export function formatReport(results: readonly CheckResult[]): string {
  const width = Math.max(...results.map(({ name }) => name.length));
  const lines = results.flatMap(({ name, finding }) => [
    `${finding.is.padEnd(7)}  ${displayName(name).padEnd(width)}  ${displayName(finding.seen)}`,
    ...('next' in finding ? [`${' '.repeat(7 + 2 + width)}  -> ${displayName(finding.next)}`] : []),
  ]);
  const answers = QUESTIONS.map((question) => `${`No ${question}?`.padEnd(11)} ${formatAnswer(results, question)}`);
  return `${[...lines, '', ...answers].join('\n')}\n`;
}

function formatAnswer(results: readonly CheckResult[], question: DoctorQuestion): string {
  const fails = listNames(results, question, 'fail');
  const warns = listNames(results, question, 'warn');
  if (fails.length === 0 && warns.length === 0) return 'no cause found';
  if (fails.length === 0) return `see the warning of: ${warns.join(', ')}`;
  return `because of: ${fails.join(', ')}${warns.length === 0 ? '' : `; see also: ${warns.join(', ')}`}`;
}

function listNames(results: readonly CheckResult[], question: DoctorQuestion, is: 'fail' | 'warn'): readonly string[] {
  return results.flatMap(({ name, about, finding }) => (finding.is === is && about.includes(question) ? [name] : []));
}

/** Formats the report for scripts. Within `schema` 1, keys are only added. */
export function formatReportJson(results: readonly CheckResult[], version: string): string {
  const reasons = Object.fromEntries(
    QUESTIONS.map((question) => [
      question,
      { fail: listNames(results, question, 'fail'), warn: listNames(results, question, 'warn') },
    ]),
  );
  return JSON.stringify({
    schema: 1,
    version,
    ok: toExitCode(results) === 0,
    checks: results.map(({ name, about, finding }) => ({
      name,
      is: finding.is,
      seen: finding.seen,
      next: 'next' in finding ? finding.next : null,
      about,
    })),
    reasons,
  });
}
