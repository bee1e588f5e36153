import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, test } from 'node:test';
import { createGunzip, gunzipSync, inflateRawSync } from 'node:zlib';
import { statusRig, TOKEN } from '../../test/kit/status-rig.ts';
import { acceptsGzip, createMessageEncoder, GZIP_HEADER } from './compress.node.ts';

/** The bytes on the wire, without a client that inflates them. */
function ask(port: number, path: string, headers: Record<string, string> = {}) {
  return new Promise<{ coding: string | undefined; vary: string | undefined; bytes: Buffer }>((resolve, reject) => {
    request({ port, path, headers, host: '127.0.0.1', agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () =>
        resolve({
          coding: answer.headers['content-encoding'],
          vary: answer.headers.vary,
          bytes: Buffer.concat(chunks),
        }),
      );
    })
      .on('error', reject)
      .end();
  });
}

const GZIP = { 'accept-encoding': 'gzip, deflate, br, zstd' };

describe('compression', () => {
  test('a header allows gzip by its name or by a star, unless its weight is 0', () => {
    for (const header of ['gzip', 'br, GZIP;q=0.5', '*', 'deflate, gzip ; q=1']) assert.ok(acceptsGzip(header), header);
    for (const header of [undefined, '', 'br', 'identity', 'gzip;q=0', '*, gzip;q=0', 'xgzip', '*;q=0'])
      assert.ok(!acceptsGzip(header), header);
  });

  test('given a client that asks, status, page and its files come in gzip; given one that does not, as they are', async () => {
    await using rig = await statusRig();
    for (const persona of ['ada', 'bo', 'cy']) rig.join(persona);
    for (const path of [
      '/',
      '/status.json',
      '/assets/page.js',
      '/api/v1/personas',
      '/api/v1/history',
      '/openapi.json',
    ]) {
      const [bare, packed] = [await ask(rig.port, path), await ask(rig.port, path, GZIP)];
      assert.deepEqual([bare.coding, packed.coding, packed.vary], [undefined, 'gzip', 'Accept-Encoding'], path);
      const [text, unpacked] = [bare.bytes.toString(), gunzipSync(packed.bytes).toString()];
      assert.equal(unpacked.replace(/"generatedAt":"[^"]+"/, ''), text.replace(/"generatedAt":"[^"]+"/, ''), path);
      assert.ok(packed.bytes.length < bare.bytes.length / 2, `${path}: ${packed.bytes.length}`);
    }
  });

  test('what needs the token is never compressed: a length would tell how much of it repeats', async () => {
    await using rig = await statusRig();
    rig.join('ada');
    await rig.mail('ada', ...Array.from({ length: 30 }, (_, i) => i + 1));
    const owner = { ...GZIP, authorization: `Bearer ${TOKEN}` };
    for (const path of ['/api/v1/events', '/api/v1/newest', '/api/v1/decisions', '/api/inbox?persona=ada'])
      assert.equal((await ask(rig.port, path, owner)).coding, undefined, path);
  });

  test('messages of a stream are compressed one by one, and those with text are only put into it', () => {
    const encode = createMessageEncoder();
    const open = 'event: status\ndata: {"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}\n\n';
    const bytes = encode(open, true);
    assert.equal(encode(open, true), bytes, 'all readers share the bytes');
    assert.ok(bytes.length < open.length);
    const secret = encode('event: newest\ndata: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n\n', false);
    assert.ok(secret.includes('event: newest\ndata: aaaaaaaaaaaa'));
    const end = Buffer.from([3, 0]); // the empty last block that a stream of ours never has
    assert.equal(
      inflateRawSync(Buffer.concat([bytes, secret, bytes, end]))
        .toString()
        .split('\n\n').length,
      4,
    );
  });

  test('given a client of the stream that asks, each message can be read when it comes, and its text is not compressed', async () => {
    await using rig = await statusRig();
    rig.join('ada');
    const path = '/api/v1/stream?status=changes';
    const headers = { ...GZIP, authorization: `Bearer ${TOKEN}` };
    const wire: Buffer[] = [];
    let text = '';
    const calling = request({ port: rig.port, path, headers, host: '127.0.0.1', agent: false }, (answer) => {
      assert.equal(answer.headers['content-encoding'], 'gzip');
      answer.on('error', () => {}); // it is cut by us
      answer.on('data', (chunk: Buffer) => wire.push(chunk));
      answer.pipe(createGunzip()).on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
    });
    calling.on('error', () => {}).end();
    const until = async (pattern: RegExp): Promise<void> => {
      while (!pattern.test(text)) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await until(/event: hello[\s\S]*event: status\ndata: \{.*\}\n\n/);
    await rig.mail('ada', 1);
    await until(/event: event\ndata: .*SECRET-TEXT 1/);
    await until(/event: newest\ndata: .*SECRET-TEXT 1/);
    const bytes = Buffer.concat(wire);
    assert.deepEqual(bytes.subarray(0, 10), GZIP_HEADER);
    assert.equal(bytes.toString('latin1').split('SECRET-TEXT 1').length, 3);
    calling.destroy();
  });
});
