import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { brokenArrows } from './arrows.ts';
import { programFiles, sourceFile } from './source-file.ts';

const broken = (path: string, text: string): readonly string[] => brokenArrows([sourceFile(path, text)]);

describe('import arrows', () => {
  test('the program keeps them', () => {
    assert.deepEqual(brokenArrows(programFiles()), []);
  });

  const forbidden: readonly (readonly [string, string, string, RegExp])[] = [
    ['upwards', 'core/model/a.ts', `import { x } from '../watcher/index.ts';`, /stands on/],
    ['upwards for a type', 'core/net/a.ts', `import type { X } from '../board/index.ts';`, /stands on/],
    ['upwards in a type expression', 'core/net/a.ts', `type X = import('../board/index.ts').Board;`, /stands on/],
    ['upwards when run', 'core/net/a.ts', `const x = await import('../board/index.ts');`, /stands on/],
    ['upwards by a re-export', 'core/net/a.ts', `export * from '../board/index.ts';`, /stands on/],
    ['sideways', 'core/inbox/a.ts', `import { x } from '../board/index.ts';`, /beside/],
    ['a source to the local hive', 'core/sources/a.ts', `import { x } from '../inbox/index.ts';`, /only reports/],
    ['sideways in the app', 'app/tray/a.ts', `import { x } from '../status/index.ts';`, /beside/],
    ['past a door', 'app/tray/a.ts', `import { x } from '../../core/board/fold.ts';`, /not a door/],
    [
      'past a door in a hall',
      'app/program/a.ts',
      `import { x } from '../../core/sources/kijito/read/page.ts';`,
      /door/,
    ],
    ['past a door of its own room', 'core/sources/a.ts', `import { x } from './kijito/look.ts';`, /not a door/],
    ['the doorbell to content', 'core/daemon/a.ts', `import { x } from '../events/index.ts';`, /doorbell/],
    ['reading to writing', 'core/sources/kijito/read/a.ts', `import { x } from '../act/index.ts';`, /never consumes/],
    ['the page to the desktop', 'app/status/a.ts', `import { x } from '../desktop/index.ts';`, /desktop/],
    ['the page to code', 'ui-static/a.ts', `import { x } from '../app/status/wire.ts';`, /types of the wire/],
    [
      'the page to other types',
      'ui-static/a.ts',
      `import type { X } from '../core/board/index.ts';`,
      /types of the wire/,
    ],
    ['the page to a package', 'ui-static/a.ts', `import x from 'fastify';`, /types of the wire/],
    ['out of the rooms', 'core/board/a.ts', `import { x } from '../../test/kit/a.ts';`, /in no room/],
    ['from no room', 'app/a.ts', `import { x } from '../core/model/index.ts';`, /in no room/],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the sample holds a template
    ['by a computed name', 'app/cli/a.ts', 'const x = await import(`./${name}.ts`);', /computed/],
  ];
  for (const [label, path, text, why] of forbidden) {
    test(`an import ${label} is found`, () => {
      const found = broken(path, text);
      assert.equal(found.length, 1);
      assert.match(found[0] ?? '', why);
    });
  }

  const allowed: readonly (readonly [string, string, string])[] = [
    ['downwards through a door', 'core/watcher/a.ts', `import { x } from '../events/index.ts';`],
    ['inside a folder', 'core/board/a.ts', `import { x } from './fold.ts';`],
    ['into a part of the own room by its door', 'core/sources/a.ts', `import { x } from './kijito/index.ts';`],
    ['out of a part into its room', 'core/sources/kijito/a.ts', `import { x } from '../source.ts';`],
    ["of a hall's part", 'app/program/a.ts', `import { x } from '../../core/sinks/outbox/index.ts';`],
    ['of the desktop by the tray', 'app/tray/a.ts', `import { x } from '../desktop/index.ts';`],
    ['of any composition by a command', 'app/cli/a.ts', `const x = await import('../program/tray.ts');`],
    ['of the wire as a type by the page', 'ui-static/a.ts', `import type { X } from '../app/status/wire.ts';`],
    ['of a package', 'core/net/a.ts', `import { request } from 'undici';`],
  ];
  for (const [label, path, text] of allowed) {
    test(`an import ${label} is fine`, () => assert.deepEqual(broken(path, text), []));
  }
});
