import { printable } from '../../printable.ts';
import { QUESTIONS, type Question } from './check.ts';
import type { Examined } from './examine.ts';

/** 0: all is well, or there are warnings; 1: something fails. */
export function exitOf(all: readonly Examined[]): 0 | 1 {
  return all.some(({ finding }) => finding.is === 'fail') ? 1 : 0;
}

/** A line a check, the next step below it, and what all of it means for who misses something. */
export function reportText(all: readonly Examined[]): string {
  const width = Math.max(...all.map(({ name }) => name.length));
  const lines = all.flatMap(({ name, finding }) => [
    `${finding.is.padEnd(7)}  ${printable(name).padEnd(width)}  ${printable(finding.seen)}`,
    ...('next' in finding ? [`${' '.repeat(7 + 2 + width)}  -> ${printable(finding.next)}`] : []),
  ]);
  const answers = QUESTIONS.map((question) => `${`No ${question}?`.padEnd(11)} ${answerOf(all, question)}`);
  return `${[...lines, '', ...answers].join('\n')}\n`;
}

function answerOf(all: readonly Examined[], question: Question): string {
  const fails = namesOf(all, question, 'fail');
  const warns = namesOf(all, question, 'warn');
  if (fails.length === 0 && warns.length === 0) return 'nothing was found that keeps it away';
  if (fails.length === 0) return `see the warning of: ${warns.join(', ')}`;
  return `because of: ${fails.join(', ')}${warns.length === 0 ? '' : `; see also: ${warns.join(', ')}`}`;
}

function namesOf(all: readonly Examined[], question: Question, is: 'fail' | 'warn'): readonly string[] {
  return all.flatMap(({ name, about, finding }) => (finding.is === is && about.includes(question) ? [name] : []));
}

/** The same for a script. Keys are only ever added within `schema` 1. */
export function reportJson(all: readonly Examined[], version: string): string {
  const reasons = Object.fromEntries(
    QUESTIONS.map((question) => [
      question,
      { fail: namesOf(all, question, 'fail'), warn: namesOf(all, question, 'warn') },
    ]),
  );
  return JSON.stringify({
    schema: 1,
    version,
    ok: exitOf(all) === 0,
    checks: all.map(({ name, about, finding }) => ({
      name,
      is: finding.is,
      seen: finding.seen,
      next: 'next' in finding ? finding.next : null,
      about,
    })),
    reasons,
  });
}
