import assert from 'node:assert/strict';
import { chmodSync, mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { scratch } from '../../../test/kit/scratch.ts';
import { checkSources } from './doctor.node.ts';

test('given no source, or sources of which all is there, then the doctor finds nothing', () => {
  using place = scratch();
  const program = place.write('program', '#!/bin/sh\n');
  chmodSync(program, 0o700);
  assert.equal(checkSources({ sources: [] }).is, 'skipped');
  assert.deepEqual(
    checkSources({
      sources: [
        { name: 'a', is: 'exec', argv: [program], cwd: place.dir },
        { name: 'b', is: 'file', path: place.write('lines.json', '[]') },
        { name: 'c', is: 'maildir', path: place.dir },
        { name: 'd', is: 'http', url: 'http://127.0.0.1:1' },
      ],
    }),
    { is: 'ok', seen: 'a (exec), b (file), c (maildir), d (http)' },
  );
});

test('given something that is missing or that everybody may write, then it is named with its value and the next step', () => {
  using place = scratch();
  const open = place.write('open', '#!/bin/sh\n');
  chmodSync(open, 0o777);
  const script = place.write('script.sh', '');
  chmodSync(script, 0o666);
  const gone = place.at('gone');
  mkdirSync(place.at('folder'));
  const check = (source: object) => checkSources({ sources: [{ name: 'x', ...source } as never] });
  for (const [source, seen, next] of [
    [{ is: 'exec', argv: [gone] }, `x: ${gone} is not run: there is no such file`, /source restart x/],
    [{ is: 'poll', argv: [open] }, `x: ${open} is not run: everybody may write it`, /source restart x/],
    [{ is: 'exec', argv: ['/bin/sh', script] }, `x: ${script} is not run: everybody may write it`, /source restart x/],
    [{ is: 'exec', argv: ['/bin/sh'], cwd: gone }, `x: its folder ${gone} does not exist`, /make it/],
    [{ is: 'file', path: gone }, `x: there is no file ${gone}`, /source remove x/],
    [{ is: 'file', path: place.at('folder') }, `x: there is no file ${place.at('folder')}`, /source remove x/],
    [{ is: 'maildir', path: script }, `x: there is no folder ${script}`, /source remove x/],
  ] as const) {
    const finding = check(source);
    assert.deepEqual([finding.is, finding.seen], ['fail', seen]);
    assert.match('next' in finding ? finding.next : '', next);
  }
  const many = checkSources({
    sources: ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, is: 'file' as const, path: gone })),
  });
  assert.match(many.seen, /^a: .*; b: .*; c: [^;]* \(and 2 more\)$/);
});

test('given two sources that read one place, then both names are said, since its mail is there twice', () => {
  using place = scratch();
  const finding = checkSources({
    sources: ['a', 'b'].map((name) => ({ name, is: 'maildir' as const, path: place.dir })),
  });
  assert.deepEqual(finding, {
    is: 'warn',
    seen: `a and b read the same: ${place.dir}; all of its mail is there twice`,
    next: 'hivebar source remove b',
  });
});
