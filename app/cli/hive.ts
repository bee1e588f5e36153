import { resolve } from 'node:path';
import { defineCommand, type Io } from '../../core/command/index.ts';
import { displayJson, displayName } from '../../core/format/index.ts';
import { readCredential } from '../../core/net/index.ts';
import { createRealDisk, ensurePrivateDir, findOwnDirs } from '../../core/state/index.ts';
import { addHive, type HiveToAdd, openSettings, removeHive, type Settings } from '../config/tray/index.ts';
import { applySettings } from './apply-settings.ts';
import { findNearest } from './nearest.ts';
import { createStderrLog } from './process.node.ts';

export const command = defineCommand(
  {
    name: 'hive',
    about: [
      'Hivebar can watch further hives beside the primary one. NAME is the prefix of their personas: ada of the hive team is',
      'team-ada, in status, files and commands. Without --name it is the first part of the host name.',
    ],
    verbs: {
      add: {
        help: 'watch the hive at URL',
        positionals: { target: { value: 'URL', missing: 'hive add: URL is missing' } },
        flags: {
          name: { type: 'string', value: 'NAME', help: 'the prefix of its personas' },
          'token-file': {
            type: 'string',
            value: 'FILE',
            completes: 'file',
            help: 'a file with the token of the hive; it is read again when the hive refuses the token',
          },
          proxy: {
            type: 'string',
            value: 'URL',
            help: 'go through this proxy, for example http://127.0.0.1:3128; proxy variables of the environment are ignored',
          },
        },
      },
      list: {
        help: 'list the watched hives',
        flags: { json: { type: 'boolean', help: 'print JSON for a script' } },
      },
      remove: {
        help: 'stop watching a hive; its event files stay',
        positionals: { target: { value: 'NAME|URL', missing: 'hive remove: NAME or URL is missing' } },
      },
    },
    examples: [
      { run: 'hivebar hive add https://team.example.org', does: 'watch a hive, as team' },
      { run: 'hivebar hive add http://10.0.0.5:7474 --name office', does: 'one on the local network' },
      {
        run: 'hivebar hive add https://api.kijito.ai --name hosted --token-file ~/.kijito-token',
        does: 'the hosted one',
      },
      { run: 'hivebar hive remove office', does: 'stop watching it; its event files stay' },
    ],
  },
  async (options, io) => {
    const { config } = findOwnDirs({ ...io.env });
    switch (options.verb) {
      case 'list':
        return list(io, openSettings(config).settings, options.json);
      case 'add':
        return add(io, config, {
          url: options.target,
          name: options.name ?? null,
          tokenFile: options['token-file'] ?? null,
          proxy: options.proxy ?? null,
        });
      case 'remove':
        return remove(io, config, options.target);
    }
  },
);

function list(io: Io, { primary, hives }: Settings, json: boolean): number {
  if (json) {
    io.out(`${displayJson(JSON.stringify({ primary: primary ?? null, hives }))}\n`);
    return 0;
  }
  const first =
    primary === undefined ? 'not decided before the first run' : primary.is === 'local' ? 'this machine' : primary.base;
  const rows = [
    { name: 'primary', at: first },
    ...(primary?.is === 'kijito' ? [{ name: 'local', at: 'this machine' }] : []),
    ...hives.map(({ name, base, tokenFile, proxy }) => {
      const details = [
        ...(tokenFile === undefined ? [] : [`token: ${tokenFile}`]),
        ...(proxy === undefined ? [] : [`proxy: ${proxy}`]),
      ];
      return { name, at: details.length === 0 ? base : `${base}  (${details.join(', ')})` };
    }),
  ];
  const width = Math.max(...rows.map(({ name }) => name.length));
  for (const { name, at } of rows) io.out(`${name.padEnd(width)}  ${displayName(at)}\n`);
  return 0;
}

async function add(io: Io, config: string, { tokenFile: given, ...wanted }: HiveToAdd): Promise<number> {
  const log = createStderrLog(io, 'hivebar hive');
  const tokenFile = given === null ? null : resolve(given);
  const hive = addHive(openSettings(config), { ...wanted, tokenFile }, () => {
    if (tokenFile !== null) readCredential({ tokenFile, tokenVariable: undefined, authHeader: null }, log);
    ensurePrivateDir(createRealDisk(log), config);
  });
  const since = await applySettings('hives', io);
  io.out(`${hive.name} is ${displayName(hive.base)}: its personas are ${hive.name}-NAME, ${since}\n`);
  return 0;
}

async function remove(io: Io, config: string, target: string): Promise<number> {
  const file = openSettings(config);
  const removed = removeHive(file, target);
  if (removed === null) {
    const close = findNearest(
      target,
      file.settings.hives.map(({ name }) => name),
    );
    const hint = close === null ? '' : `did you mean ${close}? `;
    io.err(`hivebar hive: there is no hive ${displayName(target)}: ${hint}see hivebar hive list\n`);
    return 1;
  }
  const since = await applySettings('hives', io);
  io.out(`${removed.name} (${displayName(removed.base)}) is not watched, ${since}; its event files stay\n`);
  return 0;
}
