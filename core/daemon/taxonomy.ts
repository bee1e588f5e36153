import type { DaemonStatus, Taxonomy } from '../link/index.ts';
import type { MachineState } from './machine-state.ts';

/** An agent that did something within this time counts as running. */
const ACTIVE_MS = 60_000;

/** The state of a daemon as a person sees it: the first that fits (persona daemon, contract 5). */
export function toTaxonomy(state: MachineState, shim: DaemonStatus['shim']['state'], mono: number): Taxonomy {
  const { fsm, link, turn, activeMono, stopping } = state;
  const isRefused = link.is !== 'up' && link.auth;
  if (stopping?.exit === 78 || isRefused || shim === 'failed') return 'failed';
  if (shim === 'backoff' || fsm === 'DISCONNECTED' || fsm === 'RECONCILING') return 'restarting';
  const isActive = activeMono !== null && mono - activeMono < ACTIVE_MS;
  return turn.is === 'open' || fsm === 'EMITTING' || isActive ? 'running' : 'sleeping';
}
