import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { needs } from './require.ts';
import { scratch } from './scratch.ts';
import { until } from './until.ts';

const PATH = '/usr/bin/firefox-esr';

/** Nothing but loopback is reached: everything else goes to a proxy that is not there. */
const PREFERENCES = {
  'remote.active-protocols': 1,
  'network.proxy.type': 1,
  'network.proxy.http': '127.0.0.1',
  'network.proxy.http_port': 9,
  'network.proxy.ssl': '127.0.0.1',
  'network.proxy.ssl_port': 9,
  'browser.startup.page': 0,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'app.update.disabledForTesting': true,
  'toolkit.telemetry.server': '',
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
};

/** One tab of a real Firefox without a window, driven over WebDriver BiDi. */
export interface FirefoxTab extends AsyncDisposable {
  open(url: string): Promise<void>;
  /** The value of an expression of the page, as JSON can hold it. @throws what the expression threw */
  evaluate(expression: string): Promise<unknown>;
  /** Waits until the expression is true. @throws with the text of the page when it stays false */
  until(goal: string, expression: string): Promise<void>;
  /** Presses keys one after the other: letters, or names such as `Enter`, `Tab`, `Escape`. */
  press(...keys: readonly string[]): Promise<void>;
  resize(width: number, height: number): Promise<void>;
}

const KEYS: Readonly<Record<string, string>> = { Enter: '\uE007', Tab: '\uE004', Escape: '\uE00C', Control: '\uE009' };

/** A Firefox with one tab, or null when there is none and the test must return at once. */
export async function openFirefox(t: TestContext): Promise<FirefoxTab | null> {
  if (!existsSync(PATH)) {
    needs(t, 'Firefox is missing: apt-get install firefox-esr');
    return null;
  }
  const profile = scratch();
  const lines = Object.entries(PREFERENCES).map(
    ([key, value]) => `user_pref(${JSON.stringify(key)}, ${JSON.stringify(value)});\n`,
  );
  profile.write('user.js', lines.join(''));
  const args = ['--headless', '--no-remote', '--profile', profile.dir, '--remote-debugging-port', '0'];
  const child = spawn(PATH, args, { env: { ...process.env, HOME: profile.dir } });
  const socket = new WebSocket(`${await readAddress(child)}/session`);
  await once(socket, 'open');
  const call = startCalls(socket);
  await call('session.new', { capabilities: {} });
  const { contexts } = (await call('browsingContext.getTree', {})) as { contexts: [{ context: string }] };
  const { context } = contexts[0];

  const evaluate = async (expression: string): Promise<unknown> => {
    const json = `(async () => JSON.stringify((await (${expression})) ?? null))()`;
    const target = { expression: json, target: { context }, awaitPromise: true };
    const answer = (await call('script.evaluate', target)) as {
      result?: { value: string };
      exceptionDetails?: { text: string };
    };
    if (answer.result === undefined) throw new Error(`${expression}: ${answer.exceptionDetails?.text}`);
    return JSON.parse(answer.result.value);
  };
  return {
    open: async (url) => void (await call('browsingContext.navigate', { context, url, wait: 'complete' })),
    evaluate,
    until: (goal, expression) => until(goal, async () => (await evaluate(expression)) === true),
    press: async (...keys) => {
      const actions = keys.flatMap((key) => {
        const value = KEYS[key] ?? key;
        return [
          { type: 'keyDown', value },
          { type: 'keyUp', value },
        ];
      });
      await call('input.performActions', { context, actions: [{ type: 'key', id: 'keyboard', actions }] });
    },
    resize: async (width, height) =>
      void (await call('browsingContext.setViewport', { context, viewport: { width, height } })),
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, 'exit');
      await call('browser.close', {}).catch(() => child.kill());
      await ended;
      profile[Symbol.dispose]();
    },
  };
}

const LISTENS = /ws:\/\/127\.0\.0\.1:\d+/;

async function readAddress(child: ChildProcessWithoutNullStreams): Promise<string> {
  let text = '';
  child.stdout.resume();
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  await until('Firefox says where it listens', () => LISTENS.test(text));
  return LISTENS.exec(text)?.[0] ?? '';
}

type Call = (method: string, params: object) => Promise<unknown>;

function startCalls(socket: WebSocket): Call {
  const open = new Map<number, (answer: { type: string; message?: string; result?: unknown }) => void>();
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data));
    open.get(answer.id)?.(answer);
    open.delete(answer.id);
  });
  let id = 0;
  return async (method, params) => {
    id += 1;
    const { promise, resolve } = Promise.withResolvers<{ type: string; message?: string; result?: unknown }>();
    open.set(id, resolve);
    socket.send(JSON.stringify({ id, method, params }));
    const { type, message, result } = await promise;
    if (type === 'error') throw new Error(`${method}: ${message}`);
    return result;
  };
}
