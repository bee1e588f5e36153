import { withExtra } from '../events/index.ts';
import type { Instant, KnownSet, Reach } from '../model/index.ts';
import type { Look, SetEvidence, SetItem } from '../sources/index.ts';
import { decideSet, setOf } from './arm-set.ts';
import { adopted, type Diff, diff, knownAs, moved } from './diff.ts';
import { changeEvent, type Mail, mailEvent } from './mail.ts';
import { type Output, offering, SILENT } from './offer.ts';
import { AT_ONCE, cursorOf, isSuppressed, type MintedKey, type Rules, type WatchState } from './state.ts';

/** A look at a set: what appeared is told first, then what changed, then what is not there any more. */
export function lookedAtSet(before: WatchState, at: Instant, look: Look, evidence: SetEvidence, rules: Rules): Output {
  const reach: Reach = before.reach.is === 'up' ? before.reach : { is: 'up', since: at };
  const refused = new Map(before.minted.keys.map((one) => [one.key, one]));
  // What was offered as it appeared stays that, whatever it is by the time it is taken.
  const isSilent = ({ key, appeared, from }: SetItem): boolean =>
    (appeared === 'quiet' && !refused.has(key)) || isSuppressed(from, rules);
  const armed = before.arming === 'armed' ? before : decideSet(before, look, evidence, rules, isSilent);
  const told = setOf(armed, evidence);
  const isOther = told.epoch !== evidence.epoch;
  const now = isOther ? adopted(told, evidence, Math.max(told.next, armed.minted.next), isSilent) : told;
  const found = diff(now, evidence, isSilent);
  const { mail, minted, more } = said(found, refused, armed.minted.next, rules, at);
  const mark = found.known === told && armed.mark.is === 'known' ? armed.mark : known(found.known);
  const state: WatchState = { ...armed, mark, minted, reach, failures: 0 };
  const moves = mail.flatMap(({ move }) => move ?? []);
  const out = offering(state, at, rules, {
    ...SILENT,
    mail,
    mark: moves.length === 0 ? mark : known(moved(found.known, moves)),
    more,
    save: true,
    saveFirst: before.arming === 'baseline' || before.arming === 'born' || before.arming === 'corrupt',
    edge: state.told === 'DOWN' ? 'UP' : null,
    notices: state.notices,
  });
  const { unread, urgent, vital } = look;
  const persona = rules.persona ?? '_';
  const cursor = cursorOf(out.state.mark);
  return { ...out, facts: [{ is: 'looked', at, persona, reach, unread, urgent, vital, cursor }] };
}

function known(set: KnownSet): WatchState['mark'] {
  return { ...set, is: 'known' };
}

/** As much as one offer carries. What was offered before and refused goes first, under the `seq` that it had. */
function said(
  { known, appeared, changes }: Diff,
  refused: ReadonlyMap<string, MintedKey>,
  free: number,
  rules: Rules,
  at: Instant,
) {
  const first = appeared.filter(({ key }) => refused.has(key));
  first.sort((a, b) => (refused.get(a.key)?.seq ?? 0) - (refused.get(b.key)?.seq ?? 0));
  const rest = refused.size === 0 ? appeared : appeared.filter(({ key }) => !refused.has(key));
  const mail: Mail[] = [];
  const keys: MintedKey[] = [];
  let next = Math.max(free, known.next);
  for (const item of [...first, ...rest].slice(0, AT_ONCE)) {
    const { key, appeared } = item;
    const before = refused.get(key);
    const seq = before?.seq ?? next;
    const as = before?.as ?? (appeared === 'quiet' ? 'new' : appeared);
    next = Math.max(next, seq + 1);
    keys.push({ key, seq, as });
    const event = withExtra(mailEvent({ ...item, id: seq }, rules, at, as), item.extra);
    mail.push({ event, id: null, move: { is: 'put', known: knownAs(item, seq) } });
  }
  for (const { event, seq, from, extra, move } of changes.slice(0, AT_ONCE - mail.length)) {
    mail.push({ event: changeEvent(event, seq, from, extra, rules, at), id: null, move });
  }
  return { mail, minted: { next, keys }, more: appeared.length + changes.length > mail.length };
}
