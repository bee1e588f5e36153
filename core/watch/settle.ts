import type { Span } from '../model/index.ts';
import type { Mark } from '../sources/index.ts';
import { type Move, moved } from './diff.ts';
import { type Minted, markAt, type Offer, type WatchState } from './state.ts';

/** The state after the sink has settled the first `count` events of the offer. */
export function settle(state: WatchState, offer: Offer, count: number): WatchState {
  const edgeSaid = offer.edge !== null && count > 0;
  const lead = offer.edge === null ? 0 : 1;
  const noticesSaid = Math.min(Math.max(count - lead, 0), offer.notices);
  const blocked = offer.ids.slice(count).find((id) => id !== null);
  const moves = offer.moves.slice(0, count).flatMap((move) => move ?? []);
  const mark = markAfter(state.mark, offer, blocked ?? null, moves);
  const cursor = mark.is === 'at' ? mark.id : 0;
  const raised = new Set(offer.alarms.slice(0, count));
  const isClosed = offer.closes && blocked === undefined;
  return {
    ...state,
    ...(isClosed && isPinned(state) ? NO_PIN : {}),
    ...(raised.has('gap') ? { gapAlerted: cursor } : {}),
    ...(raised.has('evidence-lost') ? { lossTold: true } : {}),
    mark,
    minted: moves.length === 0 ? state.minted : untold(state.minted, moves),
    held: state.held.length === 0 ? state.held : state.held.filter((id) => id > cursor),
    hiddenTold: raised.has('unread-not-shown') ? true : state.hiddenTold,
    releaseAt: state.releaseAt !== null && cursor >= state.releaseAt ? null : state.releaseAt,
    told: edgeSaid && offer.edge !== null ? offer.edge : state.told,
    notices: noticesSaid === 0 ? state.notices : state.notices.slice(noticesSaid),
    beatAt: offer.beats && count === offer.events.length ? offer.at : state.beatAt,
    offer: null,
  };
}

function markAfter(mark: Mark, offer: Offer, blocked: number | null, moves: readonly Move[]): Mark {
  if (mark.is === 'known') return moves.length === 0 ? mark : { ...moved(mark, moves), is: 'known' };
  return blocked === null ? offer.mark : below(mark, blocked, offer.spans);
}

/** What is still to be told under the `seq` that it has. */
function untold({ next, keys }: Minted, moves: readonly Move[]): Minted {
  const told = new Set(moves.map((move) => (move.is === 'put' ? move.known.key : move.key)));
  return { next, keys: keys.filter(({ key }) => !told.has(key)) };
}

const NO_PIN = { gapAlerted: null, wasPinned: false, forgot: 0, lossTold: false } as const;

function isPinned(state: WatchState): boolean {
  return state.gapAlerted !== null || state.wasPinned || state.forgot > 0 || state.lossTold;
}

/** Never past the first message that is not delivered, never backwards. `spans` is what the look knew of; null: all. */
export function below(mark: Mark, blocked: number, spans: readonly Span[] | null): Mark {
  const [id, done] = mark.is === 'at' ? [mark.id, mark.done ?? []] : [0, []];
  const known = spans ?? [{ from: id + 1, to: Number.MAX_SAFE_INTEGER }];
  const taken = known.flatMap(({ from, to }) => (from < blocked ? [{ from, to: Math.min(to, blocked - 1) }] : []));
  return markAt(id, [...done, ...taken]).mark;
}
