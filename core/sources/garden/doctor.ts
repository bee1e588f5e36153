import { type Finding, ok, skipped, warn } from '../module.ts';

export type GardenProbe =
  | { readonly is: 'off' }
  | { readonly is: 'none'; readonly sessions: string }
  | {
      readonly is: 'store';
      readonly citizens: number;
      readonly unread: number;
      /** Store defects, one line each. */
      readonly flaws: readonly string[];
    };

export function judgeGarden(result: GardenProbe): Finding {
  if (result.is === 'off') return skipped('switched off in the settings');
  if (result.is === 'none') return skipped(`there is no ${result.sessions}`);
  const { citizens, unread, flaws } = result;
  const summary = `${citizens} citizen${citizens === 1 ? '' : 's'}, ${unread} unread`;
  const [first] = flaws;
  if (first === undefined) return ok(summary);
  const remainder = flaws.length === 1 ? '' : ` (and ${flaws.length - 1} more)`;
  return warn(
    `${summary}; ${first}${remainder}`,
    'hivebar garden doctor names all of them; nobody else is touched by them',
  );
}
