import type { Io } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import type { SettingName, SettingsChange } from '../config/tray/index.ts';
import { parseReason } from './act.ts';
import { askTray } from './tray-request.node.ts';

/**
 * Has the running program apply the settings file. Returns from when on this setting applies, in words that end a sentence; null means
 * everything in the file.
 */
export async function applySettings(name: SettingName | null, { env }: Io): Promise<string> {
  const response = await askTray({ method: 'POST', path: '/api/v1/actions/settings-changed', body: '{}' }, env);
  if (response.is === 'not-running') return 'from the next start of hivebar on';
  if (response.status !== 200)
    return `but the running hivebar cannot apply it: ${displayName(parseReason(response.body))}`;
  const { atNextStart } = (JSON.parse(response.body) as { readonly result: SettingsChange }).result;
  if (name === null && atNextStart.length > 0)
    return `from now on, but ${atNextStart.join(', ')} from the next start on: hivebar restart`;
  return name !== null && atNextStart.includes(name) ? 'from the next start on: hivebar restart' : 'from now on';
}
