import { request } from 'node:http';
import { Fault, type PersonaId } from '../../core/model/index.ts';
import { type Database, migrate } from '../../core/state/index.ts';

const STEPS = ['CREATE TABLE wakes (persona TEXT PRIMARY KEY, url TEXT NOT NULL) STRICT, WITHOUT ROWID'] as const;
const ANSWERS_WITHIN_MS = 3000;
const MOST_CHARS = 2000;

/** Stores the addresses at which an agent's own runner can be asked to wake it. */
export interface WakeStore {
  /** Null removes the address. @throws Fault `usage` for an address that is not on this machine */
  set(persona: PersonaId, url: string | null): void;
  find(persona: PersonaId): string | null;
}

/** @throws Fault `database`; so does each of its methods. */
export function openWakeStore(db: Database): WakeStore {
  migrate(db, 'wakes', STEPS);
  const put = db.prepare('INSERT INTO wakes VALUES (?, ?) ON CONFLICT (persona) DO UPDATE SET url = excluded.url');
  const drop = db.prepare('DELETE FROM wakes WHERE persona = ?');
  const select = db.prepare<{ url: string }>('SELECT url FROM wakes WHERE persona = ?');
  return {
    set(persona, url) {
      if (url === null) drop.run(persona);
      else put.run(persona, checkWakeUrl(url));
    },
    find: (persona) => select.get(persona)?.url ?? null,
  };
}

/** Returns the address in the form that is requested: plain http to a numeric address of this machine. @throws Fault `usage` */
export function checkWakeUrl(text: string): string {
  const refused = (why: string): Fault =>
    new Fault('usage', `--wake ${JSON.stringify(text.slice(0, 80))} ${why}`, { is: 'machine', key: 'wake' });
  if (text.length > MOST_CHARS || !URL.canParse(text)) throw refused('is not an address');
  const url = new URL(text);
  if (url.hostname === 'localhost') url.hostname = '127.0.0.1';
  const isLocal = /^127\.\d+\.\d+\.\d+$/.test(url.hostname) || url.hostname === '[::1]';
  if (url.protocol !== 'http:' || !isLocal || url.username !== '' || url.password !== '')
    throw refused('must be http://127.0.0.1:PORT/PATH: an agent is woken on this machine only');
  url.hash = '';
  return url.href;
}

/**
 * Sends `POST {"message"}` (inbox and gates, contract 7). A redirect counts as an answer and is not followed.
 * @throws Fault `exec-failed` when it was not delivered
 */
export function postNudge(wake: string, message: string): Promise<void> {
  const body = JSON.stringify({ message });
  const failed = (why: string): Fault => new Fault('exec-failed', `${wake}: ${why}`, { is: 'machine', key: 'wake' });
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const wakeRequest = request(checkWakeUrl(wake), {
      method: 'POST',
      headers,
      agent: false,
      timeout: ANSWERS_WITHIN_MS,
    });
    wakeRequest.on('timeout', () => wakeRequest.destroy(failed('no answer')));
    wakeRequest.on('error', (error) => reject(error instanceof Fault ? error : failed(error.message)));
    wakeRequest.on('response', (response) => {
      let answer = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        answer = (answer + text).slice(0, MOST_CHARS);
      });
      response.on('error', (error) => reject(failed(error.message)));
      response.on('end', () => {
        const { statusCode: code = 0 } = response;
        if (code >= 200 && code < 300 && !/"delivered"\s*:\s*false/.test(answer)) resolve();
        else reject(failed(`answered ${code} ${answer.slice(0, 200).replace(/\s+/g, ' ')}`));
      });
    });
    wakeRequest.end(body);
  });
}
