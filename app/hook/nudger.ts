import {
  decideEnter,
  decideTyping,
  formatNudge,
  type NudgeFacts,
  type PaneState,
  readComposer,
  TYPED_WORDS,
  type TypingFacts,
} from '../../core/hooks/index.ts';
import type { Items } from '../../core/inbox/index.ts';
import { Fault, type PersonaId, toFault } from '../../core/model/index.ts';
import type { Clock, Spawn } from '../../core/ports/index.ts';
import { type Database, type Dirs, type Disk, ringWaiters, toWaitersDir } from '../../core/state/index.ts';
import { checkLiveness, finishWords, openSessionStore, pasteWords, readPane, type Session } from '../open/index.ts';
import { type ProgramEnv, programOnPath } from '../programs.node.ts';
import { hasRunningDaemon } from './daemon-hooks.ts';
import { createSessionFinder, listPersonaForms } from './ended-sessions.ts';
import { formatWakeWords, isFollowed, openNudgeClaims } from './nudge-claims.ts';
import { isPrompted, readHarnessState } from './prompts.node.ts';
import { locateInbox, openWakeStore, postNudge } from './stamps.node.ts';

/** The ways that are allowed besides an address that an agent registered, from the setting `nudge`. */
export interface NudgeWays {
  /** Whether words may be typed into a tmux pane. */
  readonly tmux: boolean;
  /** Whether `codex queue` may be used. */
  readonly codexQueue: boolean;
}

export interface NudgerNeeds {
  readonly db: Database;
  readonly items: Pick<Items, 'pending' | 'list'>;
  readonly dirs: Dirs;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly os: NodeJS.Platform;
  readonly spawn: Spawn;
  readonly stop: AbortSignal;
  readonly ways: NudgeWays;
}

/**
 * The result of one attempt. `later`: try again after this many milliseconds. `wait`: try again at the next occasion, for the
 * reason `why`.
 */
export type NudgeResult =
  | { readonly is: 'nudged' | 'not' }
  | { readonly is: 'later'; readonly ms: number }
  | { readonly is: 'wait'; readonly why: string };

/** One way to reach an agent for which so many items wait, by priority. */
type NudgeWay = (pending: NudgeFacts['pending']) => Promise<NudgeResult>;

/**
 * Nudges an idle agent for which something was staged, by the first available way: the waiter of its session, the address that was
 * registered for it, the queue of Codex, the tmux pane of Claude Code (`typeNudge`, only where a person allowed it). A waiter asks
 * by itself whether a nudge is due, see `openNudgeClaims`. It never types only because some
 * time has passed: a key meant for an empty prompt could approve a permission prompt, or send a person's draft. A persona whose
 * events are followed is woken by its follower. One with a running daemon is woken by that only, because doorbells have a pace of
 * their own (persona daemon, contract 4). If one of its agents is asking its person for something, it is left alone.
 */
export function createNudger(needs: NudgerNeeds) {
  const { db, dirs, disk, clock, env, os, stop, ways } = needs;
  const wakes = openWakeStore(db);
  const findSessions = createSessionFinder(openSessionStore(db), dirs.config);
  const claims = openNudgeClaims(needs);
  const waiters = toWaitersDir(db.path);
  const busy = new Set<PersonaId>();

  function findWay(persona: PersonaId, moment: string): NudgeWay | null {
    const { name } = locateInbox(persona, dirs.config);
    if (isFollowed(disk, dirs.state, persona) || hasRunningDaemon({ disk, env, state: dirs.state }, persona, name))
      return null;
    const forms = listPersonaForms(persona, dirs.config);
    const live = findSessions(persona).filter(
      ({ endedAt, runner }) => endedAt === null && checkLiveness(runner, os) !== 'gone',
    );
    const ids = live.flatMap(({ id }) => (id === null ? [] : [id]));
    const isAtPrompt = (): boolean => forms.some((form) => isPrompted(dirs.run, form, ids));
    if (isAtPrompt()) return null;
    if (ringWaiters(waiters, forms).length > 0) return null;
    const url = forms.map(wakes.find).find((address) => address !== null) ?? null;
    if (url !== null) return createAddressWay(url);
    const [session] = live;
    if (session === undefined || checkLiveness(session.runner, os) !== 'live') return null;
    if (session.harness?.name === 'codex') return createQueueWay(session, name, moment);
    return session.harness?.name === 'claude' ? createKeysWay(session, isAtPrompt) : null;
  }

  function createQueueWay({ id, runner, harness }: Session, name: string, moment: string): NudgeWay | null {
    // Without a lock nothing shows that the thread is open, and a message would wait until it is resumed.
    const isRun = typeof runner.lock === 'string' && (moment === 'Stop' || moment === 'SessionStart');
    if (!ways.codexQueue || !isRun || !isThread(id) || harness === undefined || harness === null) return null;
    return (pending) => queueMessage(needs, id, harness.home, formatWakeWords(pending, name, id));
  }

  function createKeysWay({ id, pane, runner, harness }: Session, isAtPrompt: () => boolean): NudgeWay | null {
    if (!ways.tmux || pane === null || harness === undefined || harness === null) return null;
    const keys: PaneKeys = {
      async read() {
        const paneState = await readPane(pane, runner.pid, env, os);
        const state = checkLiveness(runner, os) === 'live' ? readHarnessState(harness.home, runner.pid, id) : 'unknown';
        return { pane: paneState, isAtPrompt: isAtPrompt(), harness: state };
      },
      paste: (words, at) => pasteWords(pane, words, at, env, os),
      finish: (words, way, at) => finishWords(pane, words, way, at, env, os),
      pause: (ms) => clock.sleep(ms, stop),
    };
    return () => typeNudge(keys);
  }

  return {
    /** Nudges one persona if it is due. @throws Fault when a nudge that was due was not delivered */
    async nudgeIfDue(persona: PersonaId): Promise<NudgeResult> {
      if (busy.has(persona)) return { is: 'not' };
      busy.add(persona);
      try {
        const { nudge, facts } = claims.decide(persona, null);
        if (nudge.is === 'none') return { is: 'not' };
        if (nudge.is === 'later') return nudge;
        const way = findWay(persona, facts.last?.moment ?? '');
        if (way === null) return { is: 'not' };
        // Claimed before the nudge, because one that fails half-way may have been seen.
        const claimed = claims.claim(persona, null);
        if (claimed.nudge.is !== 'nudge') return { is: 'not' };
        const done = await way(claimed.facts.pending);
        if (done.is === 'wait') claims.release(persona, claimed);
        return done;
      } catch (error) {
        throw toFault(error, { is: 'persona', key: persona });
      } finally {
        busy.delete(persona);
      }
    },
  };
}

function createAddressWay(url: string): NudgeWay {
  return async (pending) => {
    await postNudge(url, formatNudge(pending));
    return { is: 'nudged' };
  };
}

/** Matches the tokens of hives, which no other program may get. */
const SECRET = /TOKEN/i;
/** The time limit for the start of Codex and its database. */
const WITHIN_MS = 15_000;
/** Threads have UUIDs. Another session id is never passed to a command line. */
const THREAD = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const BESIDE = ['/usr/local/bin', '/opt/homebrew/bin'];

interface QueueNeeds {
  readonly spawn: Spawn;
  readonly env: ProgramEnv;
  readonly os: NodeJS.Platform;
  readonly stop: AbortSignal;
}

const isThread = (session: string | null): session is string => session !== null && THREAD.test(session);

/** Queues a message for a thread of Codex. Its server delivers the message between two turns. @throws Fault `exec-failed` */
async function queueMessage(
  { spawn, env, os, stop }: QueueNeeds,
  thread: string,
  home: string,
  message: string,
): Promise<NudgeResult> {
  const file = programOnPath('codex', env, os, BESIDE);
  if (file === null) throw createCodexFault('codex is not on PATH of the tray process');
  const own: Record<string, string> = { CODEX_HOME: home };
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !SECRET.test(name) && name !== 'CODEX_HOME') own[name] = value;
  const args = ['queue', '--thread', thread, '--message', message];
  const ended = await spawn.run({ file, args, env: own, timeoutMs: WITHIN_MS }, stop);
  if (ended.is === 'exited' && ended.code === 0) return { is: 'nudged' };
  if (ended.is !== 'exited') throw createCodexFault(`codex queue: ${ended.is}`);
  const { code, stderr } = ended;
  // It ends with 1 for everything, so only its words tell what happened.
  if (NO_SESSION.test(stderr)) return { is: 'wait', why: 'Codex runs no session of its thread' };
  const why = stderr.trim().slice(-MOST_STDERR) || `exit ${code}`;
  const next = CANNOT_WRITE.test(stderr) ? `: its queue in ${home} must be writable for the tray process` : '';
  throw createCodexFault(`codex queue: ${why}${next}`);
}

const MOST_STDERR = 200;
const NO_SESSION = /no active session found/i;
const CANNOT_WRITE = /read-?only (?:database|file ?system)|permission denied|malformed/i;

function createCodexFault(message: string): Fault {
  return new Fault('exec-failed', message, { is: 'machine', key: 'codex' });
}

/** The operations on a pane that typing needs. */
interface PaneKeys {
  /** Reads all that is known now, the harness's report last. @throws Fault */
  read(): Promise<TypingFacts>;
  /** Pastes the words if the cursor is still at that position, and returns whether it did. @throws Fault */
  paste(words: string, at: PaneState['cursor']): Promise<boolean>;
  /** Does the same for the last step, and only while the words are on the screen. @throws Fault */
  finish(words: string, way: 'enter' | 'take back', at: PaneState['cursor']): Promise<boolean>;
  pause(ms: number): Promise<void>;
}

type TypingResult = { readonly is: 'nudged' } | { readonly is: 'wait'; readonly why: string };

const MAX_CHECKS = 20;
const EVERY_MS = 100;

/**
 * Types the words for an idle agent, and Enter once they are visible in its composer.
 * @throws Fault `exec-failed` when the words were left there
 */
async function typeNudge(keys: PaneKeys): Promise<TypingResult> {
  const first = await keys.read();
  const typing = decideTyping(first);
  if (typing.is === 'wait') return typing;
  if (!(await keys.paste(TYPED_WORDS, first.pane.cursor))) return { is: 'wait', why: 'the pane changed' };
  const facts = await waitUntilShown(keys);
  const way = decideEnter(facts);
  if (way === 'leave') throw createLeftoverFault();
  if (!(await keys.finish(TYPED_WORDS, way, facts.pane.cursor))) throw createLeftoverFault();
  return way === 'enter'
    ? { is: 'nudged' }
    : { is: 'wait', why: 'the agent continued while the text was typed, so the text was removed' };
}

/** A program may draw its input a little later. */
async function waitUntilShown(keys: PaneKeys): Promise<TypingFacts> {
  for (let checks = 1; ; checks += 1) {
    await keys.pause(EVERY_MS);
    const facts = await keys.read();
    const composer = readComposer(facts.pane);
    if (checks === MAX_CHECKS || (composer.is === 'there' && composer.text !== '')) return facts;
  }
}

function createLeftoverFault(): Fault {
  const message = `"${TYPED_WORDS}" was typed but not sent, because the pane now shows something else: send or remove it there`;
  return new Fault('exec-failed', message, { is: 'machine', key: 'tmux' });
}
