import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { needs } from '../kit/require.ts';
import { scratch } from '../kit/scratch.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';
import { copyProject } from './copy.ts';

const readSource = (name: string): string => readFileSync(join(import.meta.dirname, 'spool', name), 'utf8');

const PAGE = `# The spool source

    hivebar config set spool /srv/mail

Each folder below it that holds a Maildir is a persona. The files are only read.

## Settings

| key | default | meaning |
|---|---|---|
| \`spool\` | | the folder that holds one Maildir per persona; without it nothing is watched |

## Personas

The id of a persona is \`spool-\` and the name of its folder. \`unread\` counts the messages without the flag \`S\`.
`;

test('a newcomer adds a Maildir source: its folder, one registry row, one page; then its mail is on the board', async (t) => {
  if (needs(t, process.platform === 'win32' ? 'the program of the copy is started by a shell' : null)) return;
  using copy = copyProject();
  for (const name of ['module.ts', 'settings.ts', 'source.ts'])
    copy.add(`core/sources/spool/${name}`, readSource(name));
  copy.add('core/sources/spool/conformance.test.ts', readSource('conformance.ts'));
  copy.edit(
    'core/sources/registry.ts',
    "import { kijito } from './kijito/module.ts';\n",
    "import { kijito } from './kijito/module.ts';\nimport { spool } from './spool/module.ts';\n",
  );
  copy.edit('core/sources/registry.ts', ' };', ', spool };');
  copy.add('docs/contract/source-spool.md', PAGE);
  assert.deepEqual(copy.touched(), [
    'core/sources/registry.ts',
    'core/sources/spool/conformance.test.ts',
    'core/sources/spool/module.ts',
    'core/sources/spool/settings.ts',
    'core/sources/spool/source.ts',
    'docs/contract/source-spool.md',
  ]);
  assert.equal(copy.compile('app', 'core'), '');
  const house = [
    'arrows',
    'conformance',
    'contract',
    'cycles',
    'load-lists',
    'names',
    'purity',
    'shape',
    'source-names',
  ];
  assert.equal(copy.test(...house.map((name) => `test/house/${name}.test.ts`)), '');
  assert.equal(copy.test('core/sources/spool/conformance.test.ts'), '');

  using mail = scratch();
  for (const part of ['tmp', 'new', 'cur']) mkdirSync(mail.at('ada', part), { recursive: true });
  const path = mail.at('ada', 'new', '1750000000.M1P1.host');
  writeFileSync(path, 'From: Bo <bo@example.org>\nSubject: hello\n\nThe build is green.\n');
  using home = trayHome({ primary: { is: 'local' }, tray: 'none', spool: mail.dir });
  await using tray = await home.start([], {}, copy.program);
  await tray.persona('spool-ada', ({ unread }) => unread === 1);
  await until('its event', () => home.mail('spool-ada').length === 1);
  const [event] = home.events('spool-ada').filter((each) => each.event === 'new');
  assert.deepEqual([event?.from, event?.content], ['Bo <bo@example.org>', 'The build is green.']);

  renameSync(path, mail.at('ada', 'cur', '1750000000.M1P1.host:2,S'));
  await tray.persona('spool-ada', ({ unread }) => unread === 0);
});
