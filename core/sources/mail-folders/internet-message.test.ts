import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMessageHead } from './internet-message.ts';

const parse = (text: string, encoding: BufferEncoding = 'utf8') => parseMessageHead(Buffer.from(text, encoding));

test('given a plain mail, sender, subject, date and text are read', async () => {
  const text =
    'From: Bo Berg <bo@example.org>\r\nSubject: hello\r\nDate: Sat, 22 Aug 2026 12:00:01 +0200\r\n\r\nThe build\r\nis green.\r\n';
  assert.deepEqual(await parse(text), {
    ...{ from: 'Bo Berg <bo@example.org>', subject: 'hello', date: Date.UTC(2026, 7, 22, 10, 0, 1) },
    ...{ isUrgent: false, text: 'The build\nis green.' },
  });
});

test('given encoded words and folded lines, their text is read', async () => {
  const text = [
    'From: =?UTF-8?Q?J=C3=BCrgen_Gr=C3=B6=C3=9F?= <j@example.org>',
    'Subject: =?utf-8?B?R3LDvMOf?= =?utf-8?B?ZSBhdXM=?=',
    '\t=?iso-8859-1?Q?_K=F6ln?=, und mehr',
    '',
    'x',
  ].join('\n');
  const { from, subject } = await parse(text);
  assert.deepEqual([from, subject], ['Jürgen Größ <j@example.org>', 'Grüße aus Köln, und mehr']);
});

test('given 8-bit headers, they are read as UTF-8, and broken ones have no sign that breaks a line', async () => {
  assert.equal((await parse('Subject: Grüße\n\nx')).subject, 'Grüße');
  const { subject } = await parse('Subject: Gr\u00fc\u00dfe\n\nx', 'latin1');
  assert.ok(subject?.startsWith('Gr') && subject.isWellFormed());
});

test('given a body in another encoding or character set, its text is read', async () => {
  const body = (head: string, text: string): string => `Content-Type: ${head}\n\n${text}\n`;
  assert.equal((await parse(body('text/plain; charset=iso-8859-1', 'K\u00f6ln'), 'latin1')).text, 'Köln');
  assert.equal(
    (await parse(`Content-Transfer-Encoding: quoted-printable\n${body('text/plain; charset=utf-8', 'K=C3=B6=\nln')}`))
      .text,
    'Köln',
  );
  assert.equal(
    (await parse(`Content-Transfer-Encoding: base64\n${body('text/plain; charset=utf-8', 'S8O2bG4=')}`)).text,
    'Köln',
  );
  assert.equal((await parse(body('text/html', '<style>p</style><p>K&ouml;ln</p><'))).text.includes('<p>'), false);
  assert.equal((await parse(body('text/plain; charset=no-such-charset', 'plain'))).text, 'plain');
});

test('given parts, the text of the text part is read and attachments are not', async () => {
  const text = [
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'the words',
    '--b',
    'Content-Type: application/octet-stream',
    'Content-Transfer-Encoding: base64',
    '',
    'AAAA'.repeat(1000),
  ].join('\n');
  assert.equal((await parse(text)).text, 'the words', 'although its end is cut off');
});

test('given marks of importance, the mail is urgent', async () => {
  for (const header of ['X-Priority: 1 (Highest)', 'x-priority: 2', 'Importance: High', 'Priority: urgent'])
    assert.equal((await parse(`${header}\n\nx`)).isUrgent, true, header);
  for (const header of ['X-Priority: 3', 'Importance: low', 'X-Priority: 11', 'Subject: Importance: high'])
    assert.equal((await parse(`${header}\n\nx`)).isUrgent, false, header);
});

test('given what is no mail, there is an answer', async () => {
  assert.deepEqual(await parse(''), { from: null, subject: null, date: null, isUrgent: false, text: '' });
  const noEnd = await parse('Subject: a');
  assert.deepEqual([noEnd.subject, noEnd.text], ['a', '']);
  for (const text of ['\0\0\0', ':\n:\n:', 'From:\nDate: yesterday\nSubject:\n\n', '__proto__: 1\nconstructor: 2\n\nx'])
    assert.equal((await parse(text)).date, null);
  assert.equal(({} as { x?: number }).x, undefined);
});

test('given hostile mail of 64 KiB, the answer takes no time to speak of', async () => {
  const size = 64 * 1024;
  const fill = (part: string): string => part.repeat(Math.ceil(size / part.length)).slice(0, size);
  const hostile = {
    'one header without end': `Subject: ${fill('a ')}`,
    'folded without end': `Subject: ${fill('a\n ')}`,
    'encoded words': `Subject: ${fill('=?utf-8?Q?=C3?= ')}`,
    'half encoded words': `Subject: ${fill('=?utf-8?B?')}`,
    'many senders': `From: ${fill('a@b, ')}`,
    'nested groups': `From: ${fill('a:')}`,
    quotes: `From: ${fill('"\\')}`,
    parentheses: `From: ${fill('(')}`,
    'angle brackets': `From: ${fill('<')}`,
    'many headers': fill('a: b\n'),
    'nested parts': fill('Content-Type: multipart/mixed; boundary=a\n\n--a\n'),
    'nested mails': fill('Content-Type: message/rfc822\n\n'),
    'parameters of a type': `Content-Type: text/plain; ${fill('a*0*=b;')}`,
    tags: `Content-Type: text/html\n\n${fill('<')}`,
    entities: `Content-Type: text/html\n\n${fill('&amp')}`,
  };
  const slow: string[] = [];
  for (const [name, text] of Object.entries(hostile)) {
    const before = process.cpuUsage();
    await parse(text);
    const { user } = process.cpuUsage(before);
    if (user > 1_000_000) slow.push(`${name}: ${Math.round(user / 1000)} ms`);
  }
  assert.deepEqual(slow, []);
});
