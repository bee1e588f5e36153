import type { ProcessLiveness } from './process-liveness.node.ts';
import type { Pane, Session } from './session.ts';

/** The setting `opener`, which says how a persona's session is opened. */
export type OpenerSetting =
  | { readonly is: 'auto' | 'page' }
  | { readonly is: 'command'; readonly argv: readonly string[] }
  | { readonly is: 'url'; readonly template: string }
  /**
   * `argv` is a terminal program with its options; the command to run is appended. Without it the desktop's own terminal is used.
   */
  | { readonly is: 'terminal'; readonly argv?: readonly string[] };

/** One way to show the session. Whoever runs the step finds the programs for it. */
export type OpeningStep =
  | { readonly is: 'command'; readonly argv: readonly string[] }
  | { readonly is: 'url'; readonly template: string }
  /** Brings the terminal that shows the pane's server to the pane. */
  | { readonly is: 'tmux'; readonly pane: Pane }
  /** A new terminal that shows the pane, for a server that no terminal shows. */
  | { readonly is: 'attach'; readonly pane: Pane; readonly terminal: readonly string[] | null }
  /** A new terminal in the session's folder. With a null `resume` it runs the person's shell. */
  | { readonly is: 'terminal'; readonly resume: readonly string[] | null; readonly terminal: readonly string[] | null }
  | { readonly is: 'page' };

export interface OpeningPlan {
  /** The session of the steps, from which placeholders are filled; null when no session is known. */
  readonly session: Session | null;
  /**
   * The steps are tried in this order until one works. What the settings name explicitly is the only step, and its failure is
   * reported.
   */
  readonly steps: readonly [OpeningStep, ...OpeningStep[]];
}

const PAGE = { is: 'page' } as const;

/**
 * Decides what a click on a persona does. A session that may still be alive is never resumed, because two agents would write to
 * it.
 * @param sessions the persona's, newest first
 */
export function choosePlan(
  sessions: readonly Session[],
  setting: OpenerSetting,
  checkLiveness: (session: Session) => ProcessLiveness,
): OpeningPlan {
  const lives = sessions.map((session) => ({
    session,
    life: session.endedAt === null ? checkLiveness(session) : 'gone',
  }));
  const chosen =
    lives.find(({ life }) => life === 'live') ?? lives.find(({ life }) => life === 'unknown') ?? lives[0] ?? null;
  if (setting.is === 'command' || setting.is === 'url') return { session: chosen?.session ?? null, steps: [setting] };
  if (setting.is === 'page' || chosen === null) return { session: chosen?.session ?? null, steps: [PAGE] };
  const { session, life } = chosen;
  const { pane, resume } = session;
  if (setting.is === 'terminal') {
    const terminal = setting.argv ?? null;
    if (life === 'gone') return { session, steps: [{ is: 'terminal', resume, terminal }] };
    return {
      session,
      steps: [pane === null ? { is: 'terminal', resume: null, terminal } : { is: 'attach', pane, terminal }],
    };
  }
  if (life === 'gone' && resume !== null) {
    return { session, steps: [{ is: 'terminal', resume, terminal: null }, PAGE] };
  }
  // A pane outlives the program in it, and its last output is worth more than the page.
  if (pane !== null) return { session, steps: [{ is: 'tmux', pane }, { is: 'attach', pane, terminal: null }, PAGE] };
  return { session, steps: [PAGE] };
}
