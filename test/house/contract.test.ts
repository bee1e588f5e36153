import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createActions, type TrayControls } from '../../app/actions/index.ts';
import { COMMANDS } from '../../app/cli/commands.ts';
import { appliesAtNextStart, SETTINGS } from '../../app/config/tray/index.ts';
import { parseWatch, WATCH_FLAGS } from '../../app/config/watch/index.ts';
import { CauseWire, HiveWire, PersonaWire, StatusWire } from '../../app/status/wire.ts';
import { CONTRACT_FILE, updateContract } from '../../build/contract.ts';
import { realClock } from '../../core/ports/index.ts';
import { SOURCE_LIST, SOURCE_SETTINGS } from '../../core/sources/derived.ts';
import { SOURCES } from '../../core/sources/registry.ts';
import { statusRig } from '../kit/status-rig.ts';
import { ROOT } from './source-file.ts';

/** Rows of the first table behind a heading of a page in `docs/contract`, each as its cells. */
function tableUnder(page: string, heading: string): readonly (readonly string[])[] {
  const text = `\n${readFileSync(join(ROOT, 'docs/contract', page), 'utf8')}`;
  const from = text.indexOf(`\n${heading}\n`);
  assert.ok(from >= 0, `docs/contract/${page} has no heading "${heading}"`);
  const table = /\n(\|.*\n)+/.exec(text.slice(from))?.[0] ?? '';
  return table
    .trim()
    .split('\n')
    .slice(2)
    .map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()))
    .map((cells) => cells.slice(1, -1));
}

function codeIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

/** As the table has it: words plain, anything else as JSON. */
function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function compareSettings(settings: readonly (readonly [string, object])[], page: string, heading: string): void {
  const listed = tableUnder(page, heading).map(([key = '', value = '']) => [key, value]);
  const has = settings.map(([key, schema]) => [`\`${key}\``, 'default' in schema ? toText(schema.default) : null]);
  assert.deepEqual(
    listed.map(([key]) => key),
    has.map(([key]) => key),
  );
  for (const [row, [key, value]] of has.entries()) {
    if (value !== null) assert.equal(listed[row]?.[1]?.replaceAll('`', ''), value, String(key));
  }
}

describe('docs/contract says what the code does', () => {
  test('every setting with its default', () => {
    const own = Object.entries(SETTINGS.properties).filter(([key]) => !Object.hasOwn(SOURCE_SETTINGS, key));
    compareSettings(own, 'settings.md', '## Keys of `config.json`');
  });

  test('which settings need the next start', () => {
    const text = readFileSync(join(ROOT, 'docs/contract/settings.md'), 'utf8');
    const list = /^- These apply at the next start: ([^.]*)\./m.exec(text)?.[1] ?? '';
    const names = Object.keys(SETTINGS.properties) as (keyof typeof SETTINGS.properties)[];
    assert.deepEqual(
      [...list.matchAll(/`(\w+)`/g)].map(([, name]) => name),
      names.filter(appliesAtNextStart),
    );
  });

  test('every source, with its prefix and its settings, and none that is not there', () => {
    const pages = readdirSync(join(ROOT, 'docs/contract')).flatMap((name) => /^source-(.+)\.md$/.exec(name)?.[1] ?? []);
    assert.deepEqual(pages.toSorted(), Object.keys(SOURCES).toSorted());
    const rows = tableUnder('README.md', '## Sources').map(([link = '', summary]) => [link, summary]);
    const known = SOURCE_LIST.map(({ name, summary }) => [`[${name}](source-${name}.md)`, summary]);
    assert.deepEqual(rows, known.slice(0, rows.length));
    for (const { name, prefix, settings } of SOURCE_LIST) {
      const page = `source-${name}.md`;
      const text = readFileSync(join(ROOT, 'docs/contract', page), 'utf8');
      assert.ok(text.startsWith(`# The ${name} source\n`), page);
      if (prefix !== null) assert.ok(text.includes(`\`${prefix}`), `${page} names the prefix ${prefix}`);
      const entries: readonly (readonly [string, object])[] = Object.entries(settings);
      if (entries.length > 0) compareSettings(entries, page, '## Settings');
    }
  });

  test('every flag of the headless watch, and the defaults that are numbers', () => {
    const rows = tableUnder('headless-watch.md', '## Flags');
    const listed = rows.flatMap(([flags = '']) => codeIn(flags).map((flag) => flag.split(' ')[0] ?? ''));
    const has = Object.keys(WATCH_FLAGS).map((flag) => `--${flag}`);
    assert.deepEqual([...listed].sort(), [...has].sort());
    const parsed = parseWatch([]);
    assert.equal(parsed.is, 'plan');
    const defaults = Object.fromEntries(rows.map(([flag = '', value = '']) => [codeIn(flag)[0]?.split(' ')[0], value]));
    const { plan } = parsed;
    assert.deepEqual(
      ['--poll-seconds', '--alert-after', '--content-chars', '--max-replay', '--max-bytes', '--keep-logs'].map(
        (flag) => defaults[flag],
      ),
      [plan.pollSeconds, plan.alertAfter, plan.contentChars, plan.maxReplay, plan.maxBytes, plan.keepLogs].map(String),
    );
    assert.equal(defaults['--rediscover-every'], String(plan.rediscoverSeconds));
    assert.equal(defaults['--resync-every'], String(plan.resyncEvery));
    assert.equal(defaults['--hive'], `\`${plan.hive}\``);
  });

  test('every key of the status JSON', () => {
    const page = readFileSync(join(ROOT, 'docs/contract/status-json.md'), 'utf8');
    const listed = new Set(codeIn(page).map((code) => code.replace('[]', '')));
    const { totals, notifications, tray } = StatusWire.properties;
    const has = [StatusWire, PersonaWire, CauseWire, HiveWire, totals, notifications, tray].flatMap((schema) =>
      Object.keys(schema.properties),
    );
    assert.deepEqual(
      has.filter((key) => !listed.has(key)),
      [],
    );
  });

  test('what is reported of a persona, as its schema says; if not: npm run contract', () => {
    const text = readFileSync(CONTRACT_FILE, 'utf8');
    assert.equal(text, updateContract(text));
  });

  test('every route, and none that is not there', async () => {
    await using rig = await statusRig();
    const listed = tableUnder('routes.md', '# Routes').flatMap(([route = '']) => codeIn(route));
    const has = rig.server.routes
      .filter((route) => !route.startsWith('HEAD '))
      .map((route) =>
        route
          .replace(/\/assets\/.*/, '/assets/NAME')
          .replace(':name', 'NAME')
          .replace(':id', 'ID'),
      );
    assert.deepEqual(listed.toSorted(), [...new Set(has)].sort());
  });

  test('every action and every command', () => {
    const house = {} as TrayControls; // nothing is run
    const actions = tableUnder('actions.md', '# Actions').flatMap(([action = '']) => codeIn(action));
    assert.deepEqual(
      [...createActions(house, realClock).keys()].filter(
        (name) => !actions.some((action) => action.startsWith(`${name} {`)),
      ),
      [],
    );
    const commands = tableUnder('command-line.md', '## Commands').flatMap(([command = '']) => codeIn(command));
    assert.deepEqual(
      Object.keys(COMMANDS).filter((name) => !commands.some((command) => command.startsWith(`hivebar ${name}`))),
      [],
    );
  });
});
