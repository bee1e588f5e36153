import type { Span } from '../model/index.ts';
import type { Checkpoint } from '../sources/index.ts';
import { applyMoves, type SetMove } from './set-diff.ts';
import { type Batch, type NumberedKeys, toCheckpoint, type WatcherState } from './watcher-state.ts';

/** Returns the state after the sink has acknowledged the first `count` events of the batch. */
export function applyAck(state: WatcherState, batch: Batch, count: number): WatcherState {
  const isEdgeDelivered = batch.edge !== null && count > 0;
  const lead = batch.edge === null ? 0 : 1;
  const noticesDelivered = Math.min(Math.max(count - lead, 0), batch.notices);
  const blocked = batch.ids.slice(count).find((id) => id !== null);
  const moves = batch.moves.slice(0, count).flatMap((move) => move ?? []);
  const checkpoint = computeCheckpoint(state.checkpoint, batch, blocked ?? null, moves);
  const cursor = checkpoint.is === 'at' ? checkpoint.id : 0;
  const raised = new Set(batch.alarms.slice(0, count));
  const isClosed = batch.closes && blocked === undefined;
  return {
    ...state,
    ...(isClosed && isPinned(state) ? NO_PIN : {}),
    ...(raised.has('gap') ? { gapAlerted: cursor } : {}),
    ...(raised.has('evidence-lost') ? { lossDelivered: true } : {}),
    checkpoint,
    numbered: moves.length === 0 ? state.numbered : removeDelivered(state.numbered, moves),
    held: state.held.length === 0 ? state.held : state.held.filter((id) => id > cursor),
    hiddenDelivered: raised.has('unread-not-shown') ? true : state.hiddenDelivered,
    releaseAt: state.releaseAt !== null && cursor >= state.releaseAt ? null : state.releaseAt,
    deliveredEdge: isEdgeDelivered && batch.edge !== null ? batch.edge : state.deliveredEdge,
    notices: noticesDelivered === 0 ? state.notices : state.notices.slice(noticesDelivered),
    beatAt: batch.beats && count === batch.events.length ? batch.at : state.beatAt,
    batch: null,
  };
}

function computeCheckpoint(
  checkpoint: Checkpoint,
  batch: Batch,
  blocked: number | null,
  moves: readonly SetMove[],
): Checkpoint {
  if (checkpoint.is === 'known')
    return moves.length === 0 ? checkpoint : { ...applyMoves(checkpoint, moves), is: 'known' };
  return blocked === null ? batch.checkpoint : toCheckpointBelow(checkpoint, blocked, batch.spans);
}

/** Keeps the items that are not delivered yet, with the `seq` they have. */
function removeDelivered({ next, keys }: NumberedKeys, moves: readonly SetMove[]): NumberedKeys {
  const deliveredKeys = new Set(moves.map((move) => (move.is === 'put' ? move.known.key : move.key)));
  return { next, keys: keys.filter(({ key }) => !deliveredKeys.has(key)) };
}

const NO_PIN = { gapAlerted: null, wasPinned: false, forgot: 0, lossDelivered: false } as const;

function isPinned(state: WatcherState): boolean {
  return state.gapAlerted !== null || state.wasPinned || state.forgot > 0 || state.lossDelivered;
}

/**
 * Moves the checkpoint to just below `blocked`, the first message that is not delivered, and never backwards. `spans`
 * are the id ranges that the poll result covered; null means all.
 */
export function toCheckpointBelow(checkpoint: Checkpoint, blocked: number, spans: readonly Span[] | null): Checkpoint {
  const [id, done] = checkpoint.is === 'at' ? [checkpoint.id, checkpoint.done ?? []] : [0, []];
  const known = spans ?? [{ from: id + 1, to: Number.MAX_SAFE_INTEGER }];
  const deliveredSpans = known.flatMap(({ from, to }) =>
    from < blocked ? [{ from, to: Math.min(to, blocked - 1) }] : [],
  );
  return toCheckpoint(id, [...done, ...deliveredSpans]).checkpoint;
}
