import { defineCommand, type Io } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { Fault } from '../../core/model/index.ts';
import type { StatusWire } from '../status/index.ts';
import { parseReason } from './act.ts';
import { fetchNewest, type NewestMessages } from './newest.ts';
import { formatOpened } from './open.ts';
import { createStopSignal } from './process.node.ts';
import { isNeedy, parseStatus } from './status-json.ts';
import { hasScreen, openScreen } from './top-screen.node.ts';
import { formatTop, listTopPersonas } from './top-text.ts';
import { pressKey, TOP_KEYS, type TopAction, type TopView } from './top-view.ts';
import { askTray } from './tray-request.node.ts';
import { streamTray } from './tray-stream.node.ts';

export const command = defineCommand(
  {
    name: 'top',
    about: [
      'A full-screen view in the terminal that stays up to date: who needs you most comes first, each with its newest message. It uses the colours of your terminal; with NO_COLOR set it uses none.',
    ],
    notes: [
      `Keys: ${TOP_KEYS.map(([key, does]) => `${key} (${does})`).join(', ')}.`,
      '',
      'Exit codes: 0 you quit, 1 Hivebar does not run, 2 there is no terminal.',
    ],
    examples: [{ run: 'hivebar top', does: 'everybody, live' }],
  },
  async (_, io) => {
    if (hasScreen()) return await runTop(io);
    io.err('hivebar top: there is no terminal: use hivebar status, or --watch with it\n');
    return 2;
  },
);

async function runTop(io: Io): Promise<number> {
  if (await showTop(io)) return 0;
  io.err('hivebar is not running: start it with `hivebar`\n');
  return 1;
}

/**
 * Shows the view until the person quits or the process is asked to stop.
 * @returns whether the program answered at all
 */
async function showTop(io: Io): Promise<boolean> {
  const quit = new AbortController();
  const stop = AbortSignal.any([createStopSignal(), quit.signal]);
  let failure: unknown = null;
  /** An error in a callback is thrown when the terminal is as it was before, so that it can be read. */
  const fail = (error: unknown): void => {
    failure = error;
    quit.abort();
  };
  let status: StatusWire | null = null;
  let newest: NewestMessages = {};
  let view: TopView = {
    ...{ columns: 0, rows: 0, hasColor: (io.env.NO_COLOR ?? '') === '', isGone: false },
    ...{ mode: 'list', selected: null, filter: '', note: '', question: null },
  };
  const draw = (over: Partial<TopView> = {}): void => {
    view = { ...view, ...over, ...screen.size() };
    if (status !== null) screen.draw(formatTop(status, newest, view));
  };
  const press = (key: string): void => {
    const listed = status === null ? [] : listTopPersonas(status, view.filter);
    const entries = listed.map(({ persona, level }) => ({ persona, isNeedy: isNeedy(level) }));
    const { view: next, action } = pressKey(view, key, entries);
    if (action === 'quit') quit.abort();
    else draw(next);
    if (action !== 'quit' && action !== null)
      runAction(io, action)
        .then((note) => draw({ note }))
        .catch(fail);
  };
  let isRunning = false;
  using screen = openScreen({ onKey: press, onResize: draw, onError: fail });
  for await (const update of streamTray(io.env, stop)) {
    if (update.is === 'gone' && !isRunning) return false;
    isRunning = true;
    if (update.is === 'status') {
      status = parseStatus(update.body);
      newest = await fetchNewest(io.env);
    }
    draw({ isGone: update.is === 'gone' });
  }
  if (failure !== null) throw failure;
  return true;
}

/** Runs an action of the running program. Returns a line about what became of it. */
async function runAction({ env }: Io, { name, persona }: TopAction): Promise<string> {
  try {
    const body = JSON.stringify({ persona });
    const response = await askTray({ method: 'POST', path: `/api/v1/actions/${name}`, body }, env);
    if (response.is === 'not-running') return 'Hivebar does not answer';
    if (response.status !== 200) return displayName(parseReason(response.body));
    if (name !== 'read') return formatOpened(persona, response.body, name === 'page');
    const { result } = JSON.parse(response.body) as { readonly result: { readonly marked: number } };
    return `marked ${result.marked} of ${displayName(persona)} as read`;
  } catch (error) {
    if (error instanceof Fault) return displayName(error.explain());
    throw error;
  }
}
