import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { findAnchors, findLinks, findReferences, hasSection } from './references.ts';
import { programFiles, projectFiles, ROOT } from './source-file.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

describe('what comments and pages refer to', () => {
  test('every section of a specification, and every page, that a comment names is there', () => {
    const missing: string[] = [];
    let count = 0;
    for (const { path, comments } of programFiles())
      for (const { page, section, text } of findReferences(
        path,
        comments.map(({ value }) => value),
      )) {
        count += 1;
        const isThere = existsSync(join(ROOT, page)) && (section === null || hasSection(read(page), section));
        if (!isThere) missing.push(`${path}: ${text} (${page})`);
      }
    assert.deepEqual(missing, []);
    assert.ok(count > 200, `${count} references`);
  });

  test('every link between pages leads to a file, and to a heading of it', () => {
    const pages = projectFiles().filter((path) => path.endsWith('.md') && !path.startsWith('test/data/'));
    const dead = pages.flatMap((path) =>
      findLinks(read(path))
        .filter(({ file, anchor }) => {
          const page = file === '' ? path : join(dirname(path), file);
          return !existsSync(join(ROOT, page)) || (anchor !== '' && !findAnchors(read(page)).has(anchor));
        })
        .map(({ file, anchor }) => `${path}: ${file}#${anchor}`),
    );
    assert.ok(pages.length > 40);
    assert.deepEqual(dead, []);
  });

  test('every file of the project that a page names is there', () => {
    const pages = ['README.md', ...projectFiles().filter((path) => /^docs\/(?!specs\/).*\.md$/.test(path))];
    const isExample = (file: string): boolean => /\bNAME\b|\bspool\b|\bwebhook\b/.test(file);
    const missing = pages.flatMap((page) =>
      [...read(page).matchAll(/`((?:app|assets|build|core|scripts|test|ui-static)\/[\w./-]+)`/g)]
        .map(([, file = '']) => file)
        .filter((file) => !isExample(file) && !existsSync(join(ROOT, file)))
        .map((file) => `${page}: ${file}`),
    );
    assert.deepEqual(missing, []);
  });

  test('the index of decisions has one row for each file, in order', () => {
    const folder = join(ROOT, 'docs/decisions');
    const files = readdirSync(folder).filter((name) => name !== 'README.md');
    const rows = [...read('docs/decisions/README.md').matchAll(/^\| \[(\d{4})\]\((\1-[\w-]+\.md)\) \|/gm)];
    assert.deepEqual(
      rows.map(([, , file]) => file),
      files.toSorted(),
      'a row of docs/decisions/README.md without a file, or a file without a row',
    );
    const wrong = files.filter((file) => !read(`docs/decisions/${file}`).startsWith(`# ${file.slice(0, 4)}: `));
    assert.deepEqual(wrong, [], 'the heading of a decision begins with its number: "# 0001: ..."');
  });

  test('a reference is found with its page, named or by its room', () => {
    const comment = `As Kijito contract b; garden contract 7, trap 2; persona daemon, contract 4; (contract 3) docs/contract/events.md`;
    assert.deepEqual(
      findReferences('core/inbox/a.ts', [comment]).map(({ page, section }) => `${page} ${section}`),
      [
        'docs/specs/kijito.md b',
        'docs/specs/garden.md 7',
        'docs/specs/persona-daemon.md 4',
        'docs/specs/inbox-gates.md 3',
        'docs/contract/events.md null',
      ],
    );
    const page = '## 7. Rules\n## (b) Events\n| D12 | x |\n';
    assert.deepEqual(
      ['7', 'b', 'D12', '8', 'c', 'D13'].map((section) => hasSection(page, section)),
      [true, true, true, false, false, false],
    );
    assert.deepEqual(findLinks('[a](b.md#c) [d](https://e) [h](#i) `[x]`\n    [f](g.md)\n'), [
      { file: 'b.md', anchor: 'c' },
      { file: '', anchor: 'i' },
    ]);
    assert.deepEqual(
      [...findAnchors('# Keys of `config.json`\n## See [gates](gates.md)!\n## See gates\n')],
      ['keys-of-configjson', 'see-gates', 'see-gates-1'],
    );
  });
});
