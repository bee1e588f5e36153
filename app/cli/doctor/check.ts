import type { DoctorQuestion } from '../../../core/sources/module.ts';
import type { DoctorContext } from './doctor-context.ts';
import type { Finding } from './finding.ts';

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
