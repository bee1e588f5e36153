import { type Finding, ok, skipped, warn } from './finding.ts';

export type GardenSeen =
  | { readonly is: 'off' }
  | { readonly is: 'none'; readonly sessions: string }
  | {
      readonly is: 'store';
      readonly citizens: number;
      readonly unread: number;
      /** What is wrong in it, a line each. */
      readonly flaws: readonly string[];
    };

export function judgeGarden(seen: GardenSeen): Finding {
  if (seen.is === 'off') return skipped('switched off in the settings');
  if (seen.is === 'none') return skipped(`there is no ${seen.sessions}`);
  const { citizens, unread, flaws } = seen;
  const who = `${citizens} citizen${citizens === 1 ? '' : 's'}, ${unread} unread`;
  const [first] = flaws;
  if (first === undefined) return ok(who);
  const more = flaws.length === 1 ? '' : ` (and ${flaws.length - 1} more)`;
  return warn(`${who}; ${first}${more}`, 'hivebar garden doctor names all of them; nobody else is touched by them');
}
