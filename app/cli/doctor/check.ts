import type { Finding } from './finding.ts';
import type { Scene } from './scene.ts';

/** What a person misses when they ask. */
export type Question = 'icon' | 'banner' | 'mail';
export const QUESTIONS: readonly Question[] = ['icon', 'banner', 'mail'];

/** One entry of the list: a probe that only looks, and a pure judgement of what it saw. */
export interface Entry<Seen> {
  readonly name: string;
  /** Which of them it can be the reason for. */
  readonly about: readonly Question[];
  /** Which its warnings can be the reason for; the same unless said. */
  readonly hints?: readonly Question[];
  /** Ends soon after the signal aborts. Changes nothing. What it throws is the finding. */
  probe(scene: Scene, signal: AbortSignal): Promise<Seen>;
  judge(seen: Seen): Finding;
}

export interface Check {
  readonly name: string;
  readonly about: readonly Question[];
  readonly hints: readonly Question[];
  run(scene: Scene, signal: AbortSignal): Promise<Finding>;
}

/** An entry whose kind of sight nobody else needs to know. */
export function check<Seen>({ name, about, hints = about, probe, judge }: Entry<Seen>): Check {
  return { name, about, hints, run: async (scene, signal) => judge(await probe(scene, signal)) };
}
