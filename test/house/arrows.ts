import type { Import, SourceFile } from './source-file.ts';

/** Who stands on whom: a room imports from rows above its own, never sideways, never from below. */
const ROWS: readonly (readonly string[])[] = [
  ['core/format'],
  ['core/model'],
  ['core/ports', 'core/command'],
  ['core/services'],
  ['core/events', 'core/net', 'core/state'],
  ['core/link'],
  ['core/sinks', 'core/inbox', 'core/board', 'core/history', 'core/daemon', 'core/search'],
  ['core/sources'],
  ['core/watcher', 'core/hooks', 'core/alarms'],
  [
    'app/package.node.ts',
    'app/oldest-node.ts',
    'app/owner-socket.ts',
    'app/helper-programs.node.ts',
    'app/programs.node.ts',
    'app/schema-error.ts',
    'app/package.node.ts',
    'app/desktop',
    'app/host',
    'ui-static/present.ts',
    'ui-static/summary.ts',
    'ui-static/inbox-order.ts',
  ],
  ['app/open'],
  ['app/hook', 'app/notify/channels'],
  ['app/config', 'app/actions', 'app/tray', 'app/notify', 'app/status', 'app/service', 'app/follow'],
  ['app/local', 'app/sources', 'app/daemon', 'app/headless'],
  ['app/program'],
  ['app/cli'],
];

/** Folders whose parts are rooms of their own kind: each part has its own door beside the folder's. */
const HALLS: readonly string[] = [
  'core/sources',
  'core/sinks',
  'core/state',
  'core/inbox',
  'core/hooks/harness',
  'app/config',
];

/**
 * Where every file is a door. The compositions, and what can be asked of a daemon: one door would load them all. The directories: `hivebar status` asks
 * for them, and its start may not pay for the lock and the database behind the room's door; nor may that of a hook for more than
 * the files behind the ports' door. The report of a persona: the page reads its type, and the room's door would load types of Node.
 */
const OPEN: readonly string[] = [
  'app/program',
  'app/local',
  'app/sources',
  'app/daemon',
  'app/headless',
  'app/host',
  'app/cli/daemon',
  'app/package.node.ts',
  'app/oldest-node.ts',
  'app/owner-socket.ts',
  'app/helper-programs.node.ts',
  'app/programs.node.ts',
  'app/schema-error.ts',
  'app/package.node.ts',
  'core/board/persona-report.ts',
  'core/ports/files.node.ts',
  'core/state/dirs.node.ts',
];

/** Arrows that point down and are forbidden all the same. */
const BANS: readonly { readonly from: RegExp; readonly to: RegExp; readonly why: string }[] = [
  { from: /^core\/daemon\//, to: /^core\/(events|sources|inbox)\//, why: 'a doorbell carries no content' },
  { from: /^core\/sources\//, to: /^core\/(sinks|inbox|history|daemon)\//, why: 'a source only reports' },
  { from: /^core\/sources\/[^/]+\/read\//, to: /^core\/sources\/[^/]+\/act\//, why: 'looking never consumes' },
  {
    from: /^app\/(?!tray\/|notify\/|program\/|cli\/|desktop\/)/,
    to: /^app\/desktop\//,
    why: 'the desktop is for the tray and the notifications',
  },
];

/**
 * Doors deeper inside a folder. The channels have one of their own, because a persona daemon and the settings need them without the
 * policy and its database; the drivers of the desktop have one, because a daemon may not load the session bus.
 */
const SIDE_DOORS: readonly string[] = ['app/notify/channels/index.ts', 'app/notify/channels/desktop/index.ts'];

const DOOR = 'index.ts';

/** What breaks the import arrows, one line each, with the file and line to go to. */
export function brokenArrows(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) =>
    file.imports.flatMap((imported) => {
      const why = wrongWith(file.path, imported);
      return why === null ? [] : [`${file.path}:${imported.line} imports ${imported.specifier}: ${why}`];
    }),
  );
}

function wrongWith(from: string, { target, typeOnly, specifier }: Import): string | null {
  if (from.startsWith('ui-static/')) {
    if (target?.startsWith('ui-static/') || target === 'core/format/index.ts') return null;
    if (!typeOnly || target === null) return 'the page imports core/format and types of the wire only';
    return /^app\/status\/(index|wire[^/]*)\.ts$/.test(target)
      ? null
      : 'the page imports core/format and types of the wire only';
  }
  if (specifier === '(computed)') return 'an import that is computed cannot be checked; name the file';
  if (target === null) return null;
  const sourceRoom = findRoom(from);
  const targetRoom = findRoom(target);
  if (sourceRoom === null) return 'the importing file is in no room';
  if (targetRoom === null) return 'the imported file is in no room';
  if (sourceRoom.name !== targetRoom.name && targetRoom.row >= sourceRoom.row) {
    return targetRoom.row === sourceRoom.row
      ? `${targetRoom.name} stands beside ${sourceRoom.name}`
      : `${targetRoom.name} stands on ${sourceRoom.name}`;
  }
  const ban = BANS.find((candidate) => candidate.from.test(from) && candidate.to.test(target));
  if (ban !== undefined) return ban.why;
  return isDoorFor(from, target) ? null : 'not a door of its folder';
}

function findRoom(path: string): { readonly name: string; readonly row: number } | null {
  for (const [row, names] of ROWS.entries()) {
    const name = names.find((folder) => path === folder || path.startsWith(`${folder}/`));
    if (name !== undefined) return { name, row };
  }
  return null;
}

/** From outside a folder only its door may be named: the outermost such folder's, or that of a hall's part. */
function isDoorFor(from: string, target: string): boolean {
  if (from === 'core/sources/registry.ts' && /^core\/sources\/[^/]+\/module\.ts$/.test(target)) return true;
  if (OPEN.some((room) => target === room || target.startsWith(`${room}/`))) return true;
  if (SIDE_DOORS.includes(target)) return true;
  const parts = target.split('/');
  for (let depth = 1; depth < parts.length; depth += 1) {
    const folder = parts.slice(0, depth).join('/');
    if (depth === 1 || from.startsWith(`${folder}/`)) continue;
    const inside = parts.slice(depth).join('/');
    if (inside === DOOR) return true;
    if (!HALLS.includes(folder)) return false;
  }
  return true;
}
