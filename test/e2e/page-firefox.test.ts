import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFirefox } from '../kit/firefox.ts';
import { trayHome } from '../kit/tray-process.ts';

test('Firefox: the page logs in with a link, follows new mail, opens an inbox by the keyboard and fits a phone', async (t) => {
  using home = trayHome();
  await using tray = await home.start(['--no-tray', '--no-notifications']);
  for (const to of ['ada', 'bo']) await tray.post('/api/send', { to, from: 'me', content: `hello ${to}` });
  await tray.persona('bo', ({ unread }) => unread === 1);
  await using tab = await openFirefox(t);
  if (tab === null) return;
  const link = await home.run(['open', '--print']);
  await tab.open(/http:\S+/.exec(link.stdout + link.stderr)?.[0] ?? '');
  await tab.until('two inboxes', 'document.querySelectorAll(\'#personas a[href^="#persona="]\').length === 2');

  await tray.post('/api/send', { to: 'bo', from: 'me', content: 'more' });
  await tab.until('the headline follows', "/3.unread/.test(document.querySelector('h1').textContent)");

  await tab.press('/');
  await tab.press('b', 'o');
  await tab.press('Enter');
  await tab.until('the view of bo', "location.hash === '#persona=bo' && document.activeElement?.textContent === 'bo'");
  await tab.until('its mail', "document.querySelector('#view').textContent.includes('hello bo')");

  await tab.resize(360, 740);
  const wider = await tab.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  assert.equal(wider, 0);
});
