import { resolve } from 'node:path';
import { defineCommand, type Io } from '../../core/command/index.ts';
import { displayJson, displayName } from '../../core/format/index.ts';
import { Fault } from '../../core/model/index.ts';
import { readCredential } from '../../core/net/index.ts';
import { RESERVED_NAMES } from '../../core/sources/derived.ts';
import { checkHive, type FurtherHive } from '../../core/sources/index.ts';
import { createRealDisk, ensurePrivateDir, findOwnDirs } from '../../core/state/index.ts';
import { checkAddress, openSettings, type Settings } from '../config/tray/index.ts';
import { applySettings } from './apply-settings.ts';
import { findNearest } from './nearest.ts';
import { createStderrLog } from './process.node.ts';

interface HiveAddArgs {
  readonly url: string;
  readonly name: string | null;
  readonly tokenFile: string | null;
  readonly proxy: string | null;
}

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

async function add(io: Io, config: string, options: HiveAddArgs): Promise<number> {
  const log = createStderrLog(io, 'hivebar hive');
  const tokenFile = options.tokenFile === null ? null : resolve(options.tokenFile);
  const hive: FurtherHive = {
    name: chooseName(options),
    base: options.url,
    ...(tokenFile === null ? {} : { tokenFile }),
    ...(options.proxy === null ? {} : { proxy: options.proxy }),
  };
  checkHive(hive, { checkAddress });
  if (tokenFile !== null) readCredential({ tokenFile, tokenVariable: undefined, authHeader: null }, log);
  const file = openSettings(config);
  const { hives, primary } = file.settings;
  const existing = hives.find(({ name, base }) => name === hive.name || isSameUrl(base, hive.base));
  if (existing !== undefined) throw new Fault('usage', `${existing.name} is already ${existing.base}`, SCOPE);
  if (primary?.is === 'kijito' && isSameUrl(primary.base, hive.base))
    throw new Fault('usage', `${hive.base} is already the primary hive`, SCOPE);
  ensurePrivateDir(createRealDisk(log), config);
  file.set('hives', [...hives, hive]);
  io.out(
    `${hive.name} is ${displayName(hive.base)}: its personas are ${hive.name}-NAME, ${await applySettings('hives', io)}\n`,
  );
  return 0;
}

async function remove(io: Io, config: string, target: string): Promise<number> {
  const file = openSettings(config);
  const { hives } = file.settings;
  const removed = hives.find(({ name, base }) => name === target || isSameUrl(base, target));
  if (removed === undefined) {
    const close = findNearest(
      target,
      hives.map(({ name }) => name),
    );
    const hint = close === null ? '' : `did you mean ${close}? `;
    io.err(`hivebar hive: there is no hive ${displayName(target)}: ${hint}see hivebar hive list\n`);
    return 1;
  }
  const rest = hives.filter((hive) => hive !== removed);
  if (rest.length === 0) file.unset('hives');
  else file.set('hives', rest);
  io.out(
    `${removed.name} (${displayName(removed.base)}) is not watched, ${await applySettings('hives', io)}; its event files stay\n`,
  );
  return 0;
}

const SCOPE = { is: 'machine', key: 'hive' } as const;

/** Takes the given name, else the first part of the host's name. An IP address has no such part. */
function chooseName({ name, url }: HiveAddArgs): string {
  if (name !== null) {
    if (RESERVED_NAMES.some((reserved) => reserved === name))
      throw new Fault('usage', `--name ${name}: reserved for another source (${RESERVED_NAMES.join(', ')})`, SCOPE);
    if (!/^[a-z0-9]{1,32}$/.test(name))
      throw new Fault('usage', `--name ${name}: must be 1 to 32 characters a-z and 0-9`, SCOPE);
    return name;
  }
  const part = /^([a-z][a-z0-9]{0,31})(\.|$)/.exec(URL.parse(url)?.hostname ?? '')?.[1];
  if (part === undefined || part === 'localhost' || RESERVED_NAMES.some((reserved) => reserved === part))
    throw new Fault('usage', `cannot derive a name from ${url}: use --name NAME`, SCOPE);
  return part;
}

function isSameUrl(a: string, b: string): boolean {
  const [first, other] = [a, b].map((text) => URL.parse(text)?.href.replace(/\/+$/, ''));
  return first !== undefined && first === other;
}
