import { isSameCount } from '../model/index.ts';
import { isSameDaemon } from './daemon-view.ts';
import type { Until } from './fact.ts';
import type { BoardState, PersonaCell, SourceCell, Trouble } from './fold.ts';
import { areSameDecisions, isSameLocal } from './open-decisions.ts';
import type { ProjectView } from './snapshot.ts';

/**
 * Returns whether two states look the same to a person. It ignores the age of the numbers and how often a failing poll
 * has failed, so a quiet tick changes nothing and no surface repaints. Unchanged cells are the same object in both
 * states, so the comparison costs one pointer per persona.
 */
export function isSameBoard(a: BoardState, b: BoardState): boolean {
  return (
    a.tray === b.tray &&
    a.notifications === b.notifications &&
    isSameUntil(a.paused, b.paused) &&
    a.quietHours === b.quietHours &&
    isSameUntil(a.quiet, b.quiet) &&
    a.autostart === b.autostart &&
    areSameDecisions(a.decisions, b.decisions) &&
    isSameList(a.personas, b.personas, isSamePersona) &&
    isSameList(a.sources, b.sources, isSameSource) &&
    isSameList(a.projects, b.projects, isSameProject) &&
    (a.machine === b.machine || isSameList([...a.machine.values()], [...b.machine.values()], isSameTrouble)) &&
    !hasMuteEnded(a, b)
  );
}

function isSameList<T>(a: readonly T[], b: readonly T[], isSame: (x: T, y: T) => boolean): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  return a.every((item, i) => {
    const other = b[i];
    return item === other || (other !== undefined && isSame(item, other));
  });
}

function isSamePersona(a: PersonaCell, b: PersonaCell): boolean {
  const x = a.view;
  const y = b.view;
  return (
    x.id === y.id &&
    x.stem === y.stem &&
    x.source === y.source &&
    x.label === y.label &&
    x.health.is === y.health.is &&
    x.reason === y.reason &&
    x.since === y.since &&
    x.agentState.is === y.agentState.is &&
    x.agentState.why === y.agentState.why &&
    isSameCount(x.unread.value, y.unread.value) &&
    isSameCount(x.urgent.value, y.urgent.value) &&
    x.cursor === y.cursor &&
    x.lastEventId === y.lastEventId &&
    x.lastMailAt === y.lastMailAt &&
    x.held === y.held &&
    isSameUntil(x.muted, y.muted) &&
    x.hidden === y.hidden &&
    isSameLocal(x.local, y.local) &&
    isSameDaemon(x.daemon, y.daemon) &&
    x.canMarkRead === y.canMarkRead &&
    x.latestMessages === y.latestMessages &&
    x.eventsFile === y.eventsFile &&
    a.isEcho === b.isEcho &&
    isSameTrouble(a.failed, b.failed) &&
    isSameTrouble(a.held, b.held) &&
    isSameTrouble(a.behind, b.behind)
  );
}

function isSameSource(a: SourceCell, b: SourceCell): boolean {
  return a.id === b.id && a.address === b.address && a.answered === b.answered && isSameTrouble(a.trouble, b.trouble);
}

function isSameProject(a: ProjectView, b: ProjectView): boolean {
  return a.source === b.source && a.board === b.board && a.rev === b.rev;
}

function isSameTrouble(a: Trouble | null, b: Trouble | null): boolean {
  if (a === null || b === null) return a === b;
  return a.since === b.since && a.fault.scope.key === b.fault.scope.key && a.fault.explain() === b.fault.explain();
}

function isSameUntil(a: Until, b: Until): boolean {
  return a.is === b.is && (a.is !== 'at' || b.is !== 'at' || a.at === b.at);
}

/** Time alone ends a mute, so the snapshot changes although no cell did. */
function hasMuteEnded(a: BoardState, b: BoardState): boolean {
  const hasEnded = (until: Until): boolean => until.is === 'at' && until.at > a.now && until.at <= b.now;
  return hasEnded(b.paused) || hasEnded(b.quiet) || b.muted.values().some(hasEnded);
}
