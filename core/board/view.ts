import { type Instant, standing, sumOf } from '../model/index.ts';
import type { Until } from './fact.ts';
import type { BoardState, PersonaCell, SourceCell, Trouble } from './fold.ts';
import type { CauseView, HiveView, PersonaView, Snapshot } from './snapshot.ts';

/** The board in its printable form. Pure; a mute that has run out by `now` is shown as none. */
export function view(state: BoardState, now: Instant, rev: number): Snapshot {
  const personas = state.personas.map((cell) => shownAt(cell.shown, now));
  const seen = personas.filter((persona) => !persona.hidden);
  const counted = state.personas.flatMap(({ shown, isEcho }) => (shown.hidden || isEcho ? [] : [shown]));
  let up = 0;
  let down = 0;
  for (const persona of seen) {
    const word = standing(persona.reach);
    if (word === 'UP') up += 1;
    else if (word === 'DOWN') down += 1;
  }
  return {
    rev,
    personas,
    causes: causesOf(state),
    hives: hivesOf(state),
    projects: state.projects,
    decisions: state.decisions.filter(({ persona }) => !state.hidden.has(persona)),
    totals: {
      unread: sumOf(counted.map((persona) => persona.unread.value)),
      urgent: sumOf(counted.map((persona) => persona.urgent.value)),
      up,
      down,
      personas: seen.length,
    },
    paused: stillSilent(state.paused, now),
    quietHours: state.quietHours,
    quiet: stillSilent(state.quiet, now),
    autostart: state.autostart,
    tray: state.tray,
    notifications: state.notifications,
  };
}

function stillSilent(until: Until, now: Instant): Until {
  return until.is === 'at' && until.at <= now ? { is: 'never' } : until;
}

function shownAt(shown: PersonaView, now: Instant): PersonaView {
  const muted = stillSilent(shown.muted, now);
  return muted === shown.muted ? shown : { ...shown, muted };
}

/**
 * One cause for all that fails under one key: personas that are down, events that wait, and a source that can not even
 * say who is there. The oldest trouble names it, a source's own before a persona's. Oldest cause first.
 */
function causesOf(state: BoardState): CauseView[] {
  const causes = new Map<string, { view: Omit<CauseView, 'personas'>; personas: string[] }>();
  const add = (trouble: Trouble, persona: string | null): void => {
    const { key, is: scope } = trouble.fault.scope;
    const known = causes.get(key);
    if (known === undefined) {
      const message = trouble.fault.explain();
      causes.set(key, {
        view: { key, scope, since: trouble.since, message },
        personas: persona === null ? [] : [persona],
      });
      return;
    }
    if (trouble.since < known.view.since) {
      const message = persona === null ? trouble.fault.explain() : known.view.message;
      known.view = { ...known.view, since: trouble.since, message };
    }
    if (persona !== null && known.personas.at(-1) !== persona) known.personas.push(persona);
  };
  for (const trouble of state.machine.values()) add(trouble, null);
  for (const source of state.sources) if (source.trouble !== null) add(source.trouble, null);
  for (const cell of state.personas) {
    if (cell.shown.hidden) continue;
    if (cell.failed !== null && cell.shown.reach.is === 'down') add(cell.failed, cell.shown.id);
    if (cell.held !== null) add(cell.held, cell.shown.id);
    if (cell.behind !== null) add(cell.behind, cell.shown.id);
  }
  return [...causes.values()]
    .map(({ view: cause, personas }) => ({ ...cause, personas }))
    .sort((a, b) => a.since - b.since || (a.key < b.key ? -1 : 1));
}

function hivesOf(state: BoardState): HiveView[] {
  const of = new Map<string, { up: boolean; down: PersonaCell | null }>();
  for (const cell of state.personas) {
    const sum = of.get(cell.shown.source) ?? { up: false, down: null };
    if (cell.shown.reach.is === 'up') sum.up = true;
    else if (cell.shown.reach.is === 'down') sum.down ??= cell;
    of.set(cell.shown.source, sum);
  }
  return state.sources.map((source) => hiveOf(source, of.get(source.id) ?? { up: false, down: null }));
}

/** A hive is as good as its best inbox: one that is read proves that the server answers, whatever a list of names says. */
function hiveOf(source: SourceCell, its: { up: boolean; down: PersonaCell | null }): HiveView {
  const shown = { source: source.id, address: source.address };
  const reason = source.trouble?.fault.explain() ?? null;
  if (its.up) return { ...shown, state: 'UP', reason };
  if (reason !== null) return { ...shown, state: 'DOWN', reason };
  if (its.down !== null) return { ...shown, state: 'DOWN', reason: its.down.shown.reason };
  return { ...shown, state: source.answered ? 'UP' : 'PENDING', reason: null };
}
