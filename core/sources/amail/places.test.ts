import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { scratch } from '../../../test/kit/scratch.ts';
import { realFiles } from '../../ports/index.ts';
import { parseEnvFile, resolveAmailPlaces } from './places.ts';
import { checkAmailSettings } from './settings.ts';

const AUTO = { is: 'auto' } as const;

test('an environment file is read as a shell would: quotes, comments, export, and the last of two counts', () => {
  const text = `# comment\nexport HTTP_PORT=9000 # port\nA='x # y' # z\nB="q"\r\nC = spaced \nHTTP_PORT=9001\nnone\n=1\n`;
  assert.deepEqual({ ...parseEnvFile(text) }, { HTTP_PORT: '9001', A: 'x # y', B: 'q', C: 'spaced' });
});

test('the first environment file that exists says where the server, its token and its store are', () => {
  using home = scratch();
  const resolve = (env: Record<string, string> = {}, setting: Parameters<typeof resolveAmailPlaces>[0] = AUTO) =>
    resolveAmailPlaces(setting, { files: realFiles, env, home: home.dir });
  const none = resolve();
  assert.deepEqual([none.base, none.token, none.envFile], ['http://127.0.0.1:8765', null, null]);
  assert.equal(none.store, home.at('.local', 'share', 'mcp-agent-mail', 'git_mailbox_repo'));
  assert.equal(none.database, join(none.store, 'storage.sqlite3'));
  assert.equal(none.signals, home.at('.mcp_agent_mail', 'signals'));
  realFiles.mkdirAll(home.at('.mcp_agent_mail_git_mailbox_repo'), 0o700);
  assert.equal(resolve().store, home.at('.mcp_agent_mail_git_mailbox_repo'));
  realFiles.mkdirAll(home.at('.mcp_agent_mail'), 0o700);
  home.write(
    '.mcp_agent_mail/.env',
    'HTTP_HOST=0.0.0.0\nHTTP_PORT=9100\nHTTP_BEARER_TOKEN="secret"\nSTORAGE_ROOT=~/store\n',
  );
  const rust = resolve();
  assert.deepEqual([rust.base, rust.token, rust.store], ['http://127.0.0.1:9100', 'secret', home.at('store')]);
  realFiles.mkdirAll(home.at('xdg', 'mcp-agent-mail'), 0o700);
  home.write('xdg/mcp-agent-mail/config.env', 'HTTP_HOST=::1\nDATABASE_URL=sqlite+aiosqlite:////srv/mail.sqlite3\n');
  const xdg = resolve({ XDG_CONFIG_HOME: home.at('xdg') });
  assert.deepEqual([xdg.base, xdg.token, xdg.database], ['http://[::1]:8765', null, '/srv/mail.sqlite3']);
  const own = resolve({}, { is: 'auto', base: 'http://127.0.0.1:7/', envFile: home.at('.mcp_agent_mail', '.env') });
  assert.deepEqual([own.base, own.token], ['http://127.0.0.1:7', 'secret']);
});

test('an address with a path, or one that no request may go to, is refused in the settings', () => {
  const rules = {
    reservedNames: [],
    checkAddress(address: string): void {
      new URL(address);
    },
  };
  const check = (base: string) => checkAmailSettings({ amail: { is: 'auto', base } }, rules).map(({ at }) => at);
  assert.deepEqual(check('http://127.0.0.1:8765/'), []);
  assert.deepEqual(check('http://127.0.0.1:8765/mail'), ['/amail/base']);
  assert.deepEqual(checkAmailSettings({ amail: AUTO }, rules), []);
});
