import { defineCommand, type Io, toUsageFault } from '../../core/command/index.ts';
import { displayJson, displayName } from '../../core/format/index.ts';
import { createRealDisk, ensurePrivateDir, findOwnDirs } from '../../core/state/index.ts';
import {
  getSettingsPath,
  isSettingName,
  openSettings,
  readSettingsFile,
  SETTINGS,
  type SettingName,
} from '../config/tray/index.ts';
import { applySettings } from './apply-settings.ts';
import { editSettings } from './config-edit.node.ts';
import { findNearest } from './nearest.ts';
import { createStderrLog } from './process.node.ts';

const NAMES = Object.keys(SETTINGS.properties) as SettingName[];

const takesWord = (value: string, missing: string) => ({ value, missing, mayBeEmpty: true }) as const;

export const command = defineCommand(
  {
    name: 'config',
    about: ['A file with a mistake is never changed.'],
    verbs: {
      path: { help: 'print the path of the settings file' },
      show: {
        help: 'print every setting as the file has it, with its default',
        flags: { json: { type: 'boolean', help: 'print JSON for a script' } },
      },
      get: {
        help: 'print the value of one setting as JSON, as it applies',
        positionals: { key: { ...takesWord('KEY', 'config get: needs KEY'), completes: NAMES } },
      },
      edit: { help: 'open the file in VISUAL or EDITOR, and keep it if it is valid' },
      validate: { help: 'print every mistake with line and column; exit 1 if there is one' },
      set: {
        help: 'write one setting if it is valid; VALUE is JSON or a plain word',
        positionals: {
          key: { ...takesWord('KEY', 'config set: needs KEY VALUE'), completes: NAMES },
          value: takesWord('VALUE', 'config set: needs KEY VALUE'),
        },
      },
      unset: {
        help: 'remove one setting, so that its default applies',
        positionals: { key: { ...takesWord('KEY', 'config unset: needs KEY'), completes: NAMES } },
      },
    },
    examples: [
      { run: 'hivebar config set port 7500', does: 'one number' },
      { run: 'hivebar config set quietHours \'{"from": "22:00", "to": "07:00"}\'', does: 'one object' },
      { run: 'hivebar config validate', does: 'see what is wrong with the file' },
    ],
  },
  async (values, io) => {
    const { config } = findOwnDirs({ ...io.env });
    switch (values.verb) {
      case 'path':
        io.out(`${getSettingsPath(config)}\n`);
        return 0;
      case 'show':
        return show(io, config, values.json);
      case 'get':
        return get(io, config, values.key);
      case 'edit':
        return await editSettings(io, config);
      case 'validate':
        return validate(io, config);
      case 'set':
        return change(io, config, values.key, parseValue(values.value));
      case 'unset':
        return change(io, config, values.key, undefined);
    }
  },
);

function show(io: Io, config: string, json: boolean): number {
  const { settings, explicitSettings } = openSettings(config);
  if (json) {
    io.out(`${displayJson(JSON.stringify(settings))}\n`);
    return 0;
  }
  const width = Math.max(...NAMES.map((name) => name.length));
  for (const name of NAMES) {
    const value = settings[name] === undefined ? 'not set' : displayJson(JSON.stringify(settings[name]));
    const origin = explicitSettings[name] === undefined && settings[name] !== undefined ? '  (default)' : '';
    io.out(`${name.padEnd(width)}  ${displayName(value)}${origin}\n`);
  }
  return 0;
}

function get(io: Io, config: string, key: string): number {
  if (!isSettingName(key)) {
    io.err(`hivebar config: ${displayName(formatUnknownSetting(key))}: see hivebar config show\n`);
    return 1;
  }
  io.out(`${displayJson(JSON.stringify(openSettings(config).settings[key] ?? null))}\n`);
  return 0;
}

function formatUnknownSetting(key: string): string {
  const close = findNearest(key, Object.keys(SETTINGS.properties));
  return `there is no setting ${key}${close === null ? '' : `: did you mean ${close}?`}`;
}

function validate(io: Io, config: string): number {
  const path = getSettingsPath(config);
  const checked = readSettingsFile(config);
  if (checked === null) {
    io.out(`there is no ${path}: the defaults apply\n`);
    return 0;
  }
  if (checked.is === 'good') {
    io.out(`${path} is valid\n`);
    return 0;
  }
  for (const { line, column, message } of checked.problems)
    io.err(`${displayName(`${path}:${line}:${column}: ${message}`)}\n`);
  return 1;
}

async function change(io: Io, config: string, key: string, value: unknown): Promise<number> {
  if (!isSettingName(key)) throw toUsageFault(new Error(formatUnknownSetting(key)));
  const file = openSettings(config);
  ensurePrivateDir(createRealDisk(createStderrLog(io, 'hivebar config')), config);
  if (value === undefined) file.unset(key);
  else file.set(key, value);
  const now = value === undefined ? 'is back to its default' : `is ${displayJson(JSON.stringify(value))}`;
  io.out(`${key} ${displayName(now)}, ${await applySettings(key, io)}\n`);
  return 0;
}

/** Parses JSON; other text is taken as a string, so that `config set tray none` needs no quotes. */
function parseValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text; // the schema decides whether a text fits
  }
}
