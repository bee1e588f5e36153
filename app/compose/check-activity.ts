import {
  type ActivityReport,
  activityOf,
  checkActivity,
  type Question,
  type Verdict,
} from '../../core/alarms/index.ts';
import { faultOf, type Instant } from '../../core/model/index.ts';
import { type Disk, readPrivate } from '../../core/state/index.ts';

/** Exit codes of `hivebar watch --check-activity` (Kijito contract c). */
export const ACTIVITY_EXIT: Readonly<Record<Verdict['is'], number>> = { active: 0, silent: 1, unobservable: 2 };

/** Larger than any report that is written. */
const MOST_BYTES = 16 * 1024 * 1024;

/** What the activity file says of one persona. A file that is missing or can not be read says nothing of anybody. */
export function askActivity(disk: Disk, path: string, question: Question, now: Instant): Verdict {
  const unobservable = (words: string): Verdict => ({
    is: 'unobservable',
    words: `${question.persona}: ${words}: not observable`,
  });
  try {
    const report = reportIn(disk, path);
    if (report === 'none') return unobservable(`there is no ${path}`);
    return report === 'foreign' ? unobservable(`${path} is no activity report`) : checkActivity(report, question, now);
  } catch (error) {
    return unobservable(faultOf(error, { is: 'machine', key: `file:${path}` }).message);
  }
}

/** The report at that path; `foreign`: something else, or torn. @throws Fault `unreadable` */
export function reportIn(disk: Disk, path: string): ActivityReport | 'none' | 'foreign' {
  const bytes = readPrivate(disk, path, MOST_BYTES);
  return bytes === null ? 'none' : (activityOf(Buffer.from(bytes).toString('utf8')) ?? 'foreign');
}
