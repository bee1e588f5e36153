import { posix } from 'node:path';
import { formatDesktopEntry, type ServiceProgram } from './login-entries.ts';
import { putUnit, readUnit, removeUnit, resolveDataHome, type Unit, type UnitNeeds } from './supervised-unit.ts';

/** Formats the entry of Hivebar in the menu of applications. It starts Hivebar, and opens its page also when it runs already. */
export function formatLauncher(program: ServiceProgram): string {
  return formatDesktopEntry(program, ['run', '--open'], ['Categories=Development;', 'StartupNotify=false']);
}

/**
 * Writes that entry, or writes it again with the current paths. Notifications name it, and a desktop finds our name and icon by it. A file
 * of that name that is not ours is left alone. @throws Fault `unwritable`
 */
export async function putLauncher(needs: UnitNeeds): Promise<void> {
  const launcher = createLauncher(needs);
  if (readUnit(needs, launcher.path).is !== 'foreign') await putUnit(needs, launcher);
}

/** Removes that entry if it is ours. @throws Fault `unwritable` */
export async function removeLauncher(needs: UnitNeeds): Promise<void> {
  const launcher = createLauncher(needs);
  if (readUnit(needs, launcher.path).is === 'ours') await removeUnit(needs, launcher);
}

function createLauncher(needs: UnitNeeds): Unit {
  return {
    path: posix.join(resolveDataHome(needs), 'applications/hivebar.desktop'),
    text: async () => formatLauncher(needs.program),
    afterWrite: async () => {},
    afterRemove: async () => {},
  };
}
