import type { DoctorContext } from './doctor-context.ts';
import type { Finding } from './finding.ts';

/** What a person misses when they ask. */
export type DoctorQuestion = 'icon' | 'banner' | 'mail';
export const QUESTIONS: readonly DoctorQuestion[] = ['icon', 'banner', 'mail'];

/** One entry of the list: a probe that only looks, and a pure judgement of what it saw. */
export interface CheckDefinition<Result> {
  readonly name: string;
  /** Which of them it can be the reason for. */
  readonly about: readonly DoctorQuestion[];
  /** Which its warnings can be the reason for; the same unless said. */
  readonly hints?: readonly DoctorQuestion[];
  /** Ends soon after the signal aborts. Changes nothing. What it throws is the finding. */
  probe(context: DoctorContext, signal: AbortSignal): Promise<Result>;
  judge(result: Result): Finding;
}

export interface DoctorCheck {
  readonly name: string;
  readonly about: readonly DoctorQuestion[];
  readonly hints: readonly DoctorQuestion[];
  run(context: DoctorContext, signal: AbortSignal): Promise<Finding>;
}

/** An entry whose kind of sight nobody else needs to know. */
export function defineCheck<Result>({
  name,
  about,
  hints = about,
  probe,
  judge,
}: CheckDefinition<Result>): DoctorCheck {
  return { name, about, hints, run: async (context, signal) => judge(await probe(context, signal)) };
}
