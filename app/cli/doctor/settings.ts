import type { SettingsProbe } from './doctor-context.ts';
import { type Finding, fail, ok } from './finding.ts';
import { quoteShellWord } from './shell-word.ts';

export function judgeSettings(result: SettingsProbe): Finding {
  switch (result.is) {
    case 'absent':
      return ok(`${result.path} is not there: the defaults apply`);
    case 'good':
      return ok(`${result.path}${result.names.length === 0 ? ' says nothing' : `: ${result.names.join(', ')}`}`);
    case 'unreadable':
      return fail(`${result.path}: ${result.why}`, `make it a file of yours: chmod 600 ${quoteShellWord(result.path)}`);
    case 'bad': {
      const [first] = result.problems;
      const where = first === undefined ? '' : `:${first.line}:${first.column}: ${first.message}`;
      const remainder = result.problems.length > 1 ? ` (and ${result.problems.length - 1} more)` : '';
      return fail(
        `${result.path}${where}${remainder}`,
        'correct it there, or move the file away to use the defaults; until then Hivebar does not start',
      );
    }
  }
}
