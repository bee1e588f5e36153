import { type Finding, fail, ok } from './finding.ts';
import type { SettingsSeen } from './scene.ts';
import { shellWord } from './shell-word.ts';

export function judgeSettings(seen: SettingsSeen): Finding {
  switch (seen.is) {
    case 'absent':
      return ok(`${seen.path} is not there: the defaults hold`);
    case 'good':
      return ok(`${seen.path}${seen.names.length === 0 ? ' says nothing' : `: ${seen.names.join(', ')}`}`);
    case 'unreadable':
      return fail(`${seen.path}: ${seen.why}`, `make it a file of yours: chmod 600 ${shellWord(seen.path)}`);
    case 'bad': {
      const [first] = seen.problems;
      const where = first === undefined ? '' : `:${first.line}:${first.column}: ${first.message}`;
      const more = seen.problems.length > 1 ? ` (and ${seen.problems.length - 1} more)` : '';
      return fail(
        `${seen.path}${where}${more}`,
        'correct it there, or move the file away to have the defaults; until then Hivebar does not start',
      );
    }
  }
}
