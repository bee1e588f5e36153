import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock, Log, Random } from '../../core/ports/index.ts';
import type { Devices } from '../host/devices.ts';
import { answerJson, createStrangerRefusal, HttpRefusal } from './answer.ts';
import { parseTokenBody } from './queries.ts';

interface TokenRouteNeeds {
  readonly once: OnceCodes;
  readonly devices: Pick<Devices, 'add'>;
  /** Whether another user of the machine owns the far end of the connection. */
  readonly isStranger: (request: FastifyRequest) => boolean;
  readonly log: Log;
}

/** Larger than a code and the JSON around it. */
const BODY_LIMIT = 1024;

/**
 * `POST /api/v1/token` exchanges the code of a one-time link for a device key, with which its browser stays logged in. It needs no
 * token, since this is how to get one. A browser that shows a good key of its own keeps it.
 */
export function registerTokenRoute(app: FastifyInstance, { once, devices, isStranger, log }: TokenRouteNeeds): void {
  const warned = new Set<string>();
  /** Anybody may send wrong codes at any rate, so each kind of refusal is logged once. */
  const warnOnce = (line: string): void => {
    if (warned.has(line)) return;
    warned.add(line);
    log.warn(`${line}; further ones are not logged`);
  };
  const options = { bodyLimit: BODY_LIMIT, config: { tellsNothing: true } } as const;
  app.post('/api/v1/token', options, async (request, reply) => {
    const { code } = parseTokenBody(request.body);
    // The system is asked only for a good code, because that takes milliseconds and anybody may send wrong ones.
    if (once.isGood(code) && isStranger(request)) {
      warnOnce('a one-time code from another user of this machine was refused');
      throw createStrangerRefusal('a one-time code');
    }
    switch (once.redeem(code)) {
      case 'good':
        return answerJson(reply, answerLogin(request, devices));
      case 'again':
        // the link was opened twice, or somebody else used it first: the owner should know
        warnOnce('a one-time link was used a second time and refused');
        throw createCodeRefusal('this link has already been used');
      case 'bad':
        warnOnce('a one-time code was wrong or too old, and refused');
        throw createCodeRefusal('this link has expired or was never valid');
    }
  });
}

function answerLogin({ device, headers }: FastifyRequest, devices: Pick<Devices, 'add'>): object {
  if (device !== null) return { token: parseBearer(headers.authorization ?? ''), device };
  const made = devices.add(headers['user-agent']);
  return { token: made.key, device: made.device.id };
}

function createCodeRefusal(message: string): HttpRefusal {
  const next = 'ask for a new link: Open status page in the tray menu, or hivebar open';
  return new HttpRefusal(403, 'bad-code', message, next);
}

/** The verdict on a code. `again` means that it was valid and was used before. */
type RedeemResult = 'good' | 'again' | 'bad';

/**
 * Codes that can be exchanged for a device key once, for a short time. They are behind the `#` of a link, and no browser sends that
 * part anywhere. So a link opens the page, and the page gets the key without the key being part of an address.
 *
 * A code has 256 bits, so wrong codes are not counted: a limit would protect nothing, and would let anybody lock the owner out.
 */
export interface OnceCodes {
  /** @param goodForMs default: a minute */
  make(goodForMs?: number): string;
  /** Returns whether `redeem` would accept the code, without using it up. */
  isGood(code: string): boolean;
  redeem(code: string): RedeemResult;
}

const CODE_BYTES = 32;
const GOOD_FOR_MS = 60_000;
/** The most codes that are open at once. The oldest is dropped for a new one. */
const MOST_OPEN = 100;

export function createOnceCodes({ clock, random }: { readonly clock: Clock; readonly random: Random }): OnceCodes {
  /** The oldest first, with digests as keys, so that the time of a look-up reveals nothing about a code. */
  const codes = new Map<string, { readonly until: number; used: boolean }>();

  const forget = (): void => {
    for (const [digest, { until }] of codes) {
      if (until <= clock.monotonic() || codes.size > MOST_OPEN) codes.delete(digest);
    }
  };

  return {
    make(goodForMs = GOOD_FOR_MS) {
      const code = random.hex(CODE_BYTES);
      codes.set(hashCode(code), { until: clock.monotonic() + goodForMs, used: false });
      forget();
      return code;
    },
    isGood(code) {
      forget();
      return codes.get(hashCode(code))?.used === false;
    },
    redeem(code) {
      forget();
      const known = codes.get(hashCode(code));
      if (known === undefined) return 'bad';
      if (known.used) return 'again';
      known.used = true;
      return 'good';
    },
  };
}

function hashCode(code: string): string {
  return createHash('sha256').update(code).digest('base64');
}

/** What the sender of a request showed. `wrong` means that it is neither our token nor the key of a device. */
type Shown =
  | { readonly is: 'token' | 'nothing' | 'wrong' }
  /** The key of a device, with its id. */
  | { readonly is: 'device'; readonly id: string };

/**
 * Reads `Authorization: Bearer TOKEN`. The time taken reveals the length of our token, which is no secret, and nothing else: keys of
 * devices are compared by their digests.
 */
export function createRightCheck(
  token: string,
  devices: Pick<Devices, 'find'>,
): (authorization: string | undefined) => Shown {
  const ours = Buffer.from(token);
  return (authorization) => {
    if (authorization === undefined) return { is: 'nothing' };
    const given = parseBearer(authorization) ?? '';
    const givenBytes = Buffer.from(given);
    if (givenBytes.length === ours.length && timingSafeEqual(givenBytes, ours)) return { is: 'token' };
    const device = devices.find(given);
    return device === null ? { is: 'wrong' } : { is: 'device', id: device.id };
  };
}

/** Returns the token of `Authorization: Bearer TOKEN`, or null when there is none. */
export function parseBearer(authorization: string): string | null {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
}
