import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Fault } from '../model/index.ts';
import { silentLog } from '../ports/index.ts';
import { type CredentialSources, readCredential } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'hivebar-token-'));
after(() => rmSync(folder, { recursive: true }));

let files = 0;
function fileWith(text: string, mode = 0o600): string {
  files += 1;
  const path = join(folder, `token${files}`);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

const NONE: CredentialSources = { tokenFile: null, tokenVariable: undefined, authHeader: null };

function read(from: Partial<CredentialSources>) {
  const warnings: string[] = [];
  const header = readCredential({ ...NONE, ...from }, { ...silentLog, warn: (line) => warnings.push(line) });
  return { header, warnings };
}

test('no token anywhere is no header; so is an empty variable', () => {
  assert.equal(read({}).header, null);
  assert.equal(read({ tokenVariable: ' \n' }).header, null);
});

test('a token goes as a bearer, trimmed', () => {
  assert.deepEqual(read({ tokenVariable: ' t0k \n' }).header, { name: 'authorization', value: 'Bearer t0k' });
  assert.deepEqual(read({ tokenFile: fileWith('t0k\r\n') }).header, { name: 'authorization', value: 'Bearer t0k' });
});

test('with --auth-header it goes raw under that name', () => {
  assert.deepEqual(read({ tokenVariable: 't0k', authHeader: 'X-Key' }).header, { name: 'X-Key', value: 't0k' });
});

test('the file wins over the variable', () => {
  const { header } = read({ tokenFile: fileWith('file'), tokenVariable: 'variable' });
  assert.equal(header?.value, 'Bearer file');
});

test('a file that only its owner may read is used in silence, also through a symlink', () => {
  const path = fileWith('t0k');
  const link = join(folder, 'link');
  symlinkSync(path, link);
  assert.deepEqual(read({ tokenFile: path }).warnings, []);
  assert.equal(read({ tokenFile: link }).header?.value, 'Bearer t0k');
});

for (const mode of [0o644, 0o640, 0o620, 0o604]) {
  test(`a token file of mode ${mode.toString(8)} is used and warned of (D22)`, () => {
    const { header, warnings } = read({ tokenFile: fileWith('t0k', mode) });
    assert.equal(header?.value, 'Bearer t0k');
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', new RegExp(`mode ${mode.toString(8)}.*chmod 600`));
  });
}

test('a file that is missing, empty, a folder or huge is the fault unreadable, and names the path', () => {
  for (const tokenFile of [join(folder, 'none'), fileWith(' \n'), folder, fileWith('x'.repeat(70_000))]) {
    assert.throws(
      () => read({ tokenFile, tokenVariable: 'variable' }),
      (error: unknown) => error instanceof Fault && error.code === 'unreadable' && error.message.includes(tokenFile),
    );
  }
});

test('a token or a header name that no header can carry is a usage error that does not show the token', () => {
  for (const tokenVariable of ['s3c\nret', 's3c\0ret', 's3c…ret']) {
    assert.throws(
      () => read({ tokenVariable }),
      (error: unknown) => error instanceof Fault && error.code === 'usage' && !error.message.includes('s3c'),
    );
  }
  for (const authHeader of ['', 'X Key', 'X-Key:', 'Host', 'Content-Length', 'X\nY']) {
    assert.throws(() => read({ tokenVariable: 't', authHeader }), { code: 'usage' }, authHeader);
  }
});
