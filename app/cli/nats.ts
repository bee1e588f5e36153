import { defineCommand, type Io, toUsageFault } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { checkRelay, createDialer, openRelayLink, RELAY } from '../../core/inbox/relay/index.ts';
import { parseNatsTarget, readCredential } from '../../core/net/index.ts';
import { realClock, realRandom } from '../../core/ports/index.ts';
import { findOwnDirs } from '../../core/state/index.ts';
import { openSettings } from '../config/tray/index.ts';
import { createStderrLog } from './process.node.ts';

export const command = defineCommand(
  {
    name: 'nats',
    about: [
      'Checks, step by step, that a NATS server with JetStream can relay the local hive: address, connection, token, stream,',
      'and a message there and back. It leaves behind only the stream INBOX_EVENTS, which the relay needs.',
    ],
    verbs: {
      check: {
        help: 'check the server at URL, or that of the setting nats',
        positionals: { url: { value: 'URL', optional: true } },
        flags: {
          'token-file': {
            type: 'string',
            value: 'FILE',
            completes: 'file',
            help: 'a file with the token of the server',
          },
        },
      },
    },
    notes: ['Exits with 0 if every step works, and with 1 at the first step that fails, with the next step to take.'],
    examples: [
      { run: 'hivebar nats check', does: 'the server of the settings' },
      {
        run: 'hivebar nats check nats://127.0.0.1:4222 --token-file ~/.nats-token',
        does: 'a server before you set it',
      },
    ],
  },
  async (values, io) => {
    const { url, tokenFile } = chooseServer(values.url ?? null, values['token-file'] ?? null, io);
    const server = parseNatsTarget(url, RELAY);
    const secret = loadToken(tokenFile, io);
    const dialer = createDialer({ server, token: () => secret });
    let failed = false;
    const options = { dialer, open: openRelayLink, hasToken: secret !== null, clock: realClock, random: realRandom };
    for await (const step of checkRelay(options)) {
      const detail = step.is === 'ok' ? step.detail : step.fault.explain();
      io.out(`${step.is.padEnd(7)} ${step.step.padEnd(12)} ${displayName(detail)}\n`);
      failed ||= step.is === 'failed';
    }
    return failed ? 1 : 0;
  },
);

interface NatsServer {
  readonly url: string;
  readonly tokenFile: string | null;
}

function chooseServer(url: string | null, tokenFile: string | null, io: Io): NatsServer {
  if (url !== null && tokenFile !== null) return { url, tokenFile };
  const { nats } = openSettings(findOwnDirs({ ...io.env }).config).settings;
  const isOurs = nats !== undefined && (url === null || url === nats.url);
  if (isOurs) return { url: nats.url, tokenFile: tokenFile ?? nats.tokenFile ?? null };
  if (url !== null) return { url, tokenFile };
  const how = `hivebar config set nats '{"url": "nats://127.0.0.1:4222"}'`;
  throw toUsageFault(new Error(`no NATS server is set: give its URL, or set it (${how})`));
}

function loadToken(tokenFile: string | null, io: Io): string | null {
  if (tokenFile === null) return null;
  // Any header name but `authorization` gets the token unchanged as its value.
  const header = readCredential(
    { tokenFile, tokenVariable: undefined, authHeader: 'nats-token' },
    createStderrLog(io, 'hivebar nats'),
  );
  return header?.value ?? null;
}
