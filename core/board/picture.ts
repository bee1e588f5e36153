import { sameCount } from '../model/index.ts';
import { sameDecisions, sameLocal } from './asked.ts';
import { sameDaemon } from './daemon.ts';
import type { Until } from './fact.ts';
import type { BoardState, PersonaCell, SourceCell, Trouble } from './fold.ts';
import type { ProjectView } from './snapshot.ts';

/**
 * Whether two states look the same to a person: everything but how fresh the numbers are and how often a failing look
 * has failed. A quiet tick thus changes nothing, and no surface repaints. Cells that were not touched are one object in
 * both states, so comparing costs one pointer a persona.
 */
export function samePicture(a: BoardState, b: BoardState): boolean {
  return (
    a.tray === b.tray &&
    a.notifications === b.notifications &&
    sameUntil(a.paused, b.paused) &&
    a.quietHours === b.quietHours &&
    sameUntil(a.quiet, b.quiet) &&
    a.autostart === b.autostart &&
    sameDecisions(a.decisions, b.decisions) &&
    sameList(a.personas, b.personas, samePersona) &&
    sameList(a.sources, b.sources, sameSource) &&
    sameList(a.projects, b.projects, sameProject) &&
    (a.machine === b.machine || sameList([...a.machine.values()], [...b.machine.values()], sameTrouble)) &&
    !someMuteEnded(a, b)
  );
}

function sameList<T>(a: readonly T[], b: readonly T[], same: (x: T, y: T) => boolean): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  return a.every((item, i) => {
    const other = b[i];
    return item === other || (other !== undefined && same(item, other));
  });
}

function samePersona(a: PersonaCell, b: PersonaCell): boolean {
  const x = a.shown;
  const y = b.shown;
  return (
    x.id === y.id &&
    x.stem === y.stem &&
    x.source === y.source &&
    x.label === y.label &&
    x.reach.is === y.reach.is &&
    x.reason === y.reason &&
    x.since === y.since &&
    x.vital.is === y.vital.is &&
    x.vital.why === y.vital.why &&
    sameCount(x.unread.value, y.unread.value) &&
    sameCount(x.urgent.value, y.urgent.value) &&
    x.cursor === y.cursor &&
    x.lastEventId === y.lastEventId &&
    x.lastMailAt === y.lastMailAt &&
    x.held === y.held &&
    sameUntil(x.muted, y.muted) &&
    x.hidden === y.hidden &&
    sameLocal(x.local, y.local) &&
    sameDaemon(x.daemon, y.daemon) &&
    x.canMarkRead === y.canMarkRead &&
    x.latest === y.latest &&
    x.eventsFile === y.eventsFile &&
    a.isEcho === b.isEcho &&
    sameTrouble(a.failed, b.failed) &&
    sameTrouble(a.held, b.held) &&
    sameTrouble(a.behind, b.behind)
  );
}

function sameSource(a: SourceCell, b: SourceCell): boolean {
  return a.id === b.id && a.address === b.address && a.answered === b.answered && sameTrouble(a.trouble, b.trouble);
}

function sameProject(a: ProjectView, b: ProjectView): boolean {
  return a.source === b.source && a.board === b.board && a.rev === b.rev;
}

function sameTrouble(a: Trouble | null, b: Trouble | null): boolean {
  if (a === null || b === null) return a === b;
  return a.since === b.since && a.fault.scope.key === b.fault.scope.key && a.fault.explain() === b.fault.explain();
}

function sameUntil(a: Until, b: Until): boolean {
  return a.is === b.is && (a.is !== 'at' || b.is !== 'at' || a.at === b.at);
}

/** Time alone ends a mute: the picture changes although no cell did. */
function someMuteEnded(a: BoardState, b: BoardState): boolean {
  const ended = (until: Until): boolean => until.is === 'at' && until.at > a.now && until.at <= b.now;
  return ended(b.paused) || ended(b.quiet) || b.muted.values().some(ended);
}
