import {
  type ActivityQuestion,
  type ActivityReport,
  type ActivityVerdict,
  checkActivity,
  parseActivityReport,
} from '../../core/alarms/index.ts';
import { type Instant, toFault } from '../../core/model/index.ts';
import { type Disk, readPrivate } from '../../core/state/index.ts';

/** Exit codes of `hivebar watch --check-activity` (Kijito contract c). */
export const ACTIVITY_EXIT: Readonly<Record<ActivityVerdict['is'], number>> = { active: 0, silent: 1, unobservable: 2 };

/** Larger than any report that Hivebar writes. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Returns what the activity file says about one persona. A file that is missing or cannot be read says nothing about anybody. */
export function askActivity(disk: Disk, path: string, question: ActivityQuestion, now: Instant): ActivityVerdict {
  const unobservable = (words: string): ActivityVerdict => ({
    is: 'unobservable',
    words: `${question.persona}: ${words}: not observable`,
  });
  try {
    const report = readActivityReport(disk, path);
    if (report === 'none') return unobservable(`there is no ${path}`);
    return report === 'foreign' ? unobservable(`${path} is no activity report`) : checkActivity(report, question, now);
  } catch (error) {
    return unobservable(toFault(error, { is: 'machine', key: `file:${path}` }).message);
  }
}

/** Reads the report at that path. `foreign` means that the file is something else or incomplete. @throws Fault `unreadable` */
export function readActivityReport(disk: Disk, path: string): ActivityReport | 'none' | 'foreign' {
  const bytes = readPrivate(disk, path, MOST_BYTES);
  return bytes === null ? 'none' : (parseActivityReport(Buffer.from(bytes).toString('utf8')) ?? 'foreign');
}
