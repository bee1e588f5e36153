import { displayName } from '../../../core/format/index.ts';
import { type CheckResult, type DoctorQuestion, QUESTIONS } from './check.ts';

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
