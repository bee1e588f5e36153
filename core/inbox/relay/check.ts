import { Fault, type FaultCode } from '../../model/index.ts';
import type { Clock, Random } from '../../ports/index.ts';
import type { Dialer } from './link.node.ts';
import { RELAY, type RelayLink, type StreamDelivery } from './link.ts';
import { isAtLeast, STREAM } from './wire.ts';

/** The result of one step of a check. */
export type RelayCheckStep =
  | { readonly step: RelayStepName; readonly is: 'ok'; readonly detail: string }
  | { readonly step: RelayStepName; readonly is: 'failed'; readonly fault: Fault };

type RelayStepName =
  | 'address'
  | 'connection'
  | 'token'
  | 'JetStream'
  | 'stream'
  | 'consumer'
  | 'publish'
  | 'consume'
  | 'acknowledge'
  | 'clean up';

export interface RelayCheckOptions {
  readonly dialer: Dialer;
  readonly open: (dialer: Dialer) => Promise<RelayLink>;
  readonly hasToken: boolean;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Proves that the relay can work, step by step, up to the first failure. It publishes a message for nobody. Afterwards the
 * message and its consumer are removed, even after a failure; the stream stays, if the check created it.
 */
export async function* checkRelay(options: RelayCheckOptions): AsyncGenerator<RelayCheckStep> {
  const { dialer, open, hasToken } = options;
  let at: RelayStepName = 'address';
  try {
    yield toPassedStep(at, (await dialer.addresses()).join(', '));
    at = 'connection';
    const link = await open(dialer).catch((error: unknown) => error as Error);
    if (link instanceof Error) {
      const reached = findFailedStep(link instanceof Fault ? link.code : 'broken');
      if (reached !== 'connection') yield toPassedStep('connection', dialer.display);
      if (reached === 'JetStream') yield toPassedStep('token', formatAccepted(hasToken));
      at = reached;
      throw link;
    }
    await using open_ = link;
    yield toPassedStep('connection', `${dialer.display}, server ${open_.serverVersion}`);
    yield toPassedStep('token', formatAccepted(hasToken));
    yield toPassedStep(
      'JetStream',
      isAtLeast(open_.serverVersion, [2, 10]) ? 'one consumer for all' : 'one consumer a subject',
    );
    at = 'stream';
    const { isNew, lastSeq } = await open_.stream();
    yield toPassedStep(at, isNew ? `${STREAM}, made just now` : `${STREAM}, at message ${lastSeq}`);
    for await (const each of runRoundTrip(open_, options)) {
      at = each.step;
      yield each;
    }
  } catch (error) {
    yield {
      step: at,
      is: 'failed',
      fault: error instanceof Fault ? error : new Fault('internal', String(error), RELAY),
    };
  }
}

const WAIT_MS = 10_000;
const POLL_INTERVAL_MS = 50;

/** Sends a message and receives it. A failed step is reported as such, and what was created is removed anyway. */
async function* runRoundTrip(
  link: RelayLink,
  { clock, random, dialer }: RelayCheckOptions,
): AsyncGenerator<RelayCheckStep> {
  const checkId = random.hex(8);
  const durable = { name: `inbox-check-${checkId}`, subjects: [`inbox.check.${checkId}`] } as const;
  const [subject] = durable.subjects;
  let at: RelayStepName = 'consumer';
  let seq: number | null = null;
  const never = new AbortController().signal;
  const within = async (happened: () => Promise<boolean>, problem: string): Promise<void> => {
    for (const end = clock.monotonic() + WAIT_MS; !(await happened()); ) {
      if (clock.monotonic() > end)
        throw new Fault('timeout', `${dialer.display}: ${problem} within ${WAIT_MS} ms`, RELAY);
      await clock.sleep(POLL_INTERVAL_MS, never);
    }
  };
  try {
    await link.bind(durable);
    yield toPassedStep(at, durable.name);
    at = 'publish';
    seq = (await link.publish(subject, '{}', checkId)).seq;
    yield toPassedStep(at, subject);
    at = 'consume';
    const came: StreamDelivery[] = [];
    await using _consuming = await link.consume(
      durable.name,
      (message) => void came.push(message),
      () => {},
    );
    await within(async () => came.length > 0, 'the message did not come back');
    const [message] = came;
    yield toPassedStep(at, `message ${seq}`);
    at = 'acknowledge';
    message?.ack();
    await within(
      async () => (await link.bind(durable)).ackFloor === seq,
      'the server did not record the acknowledgement',
    );
    yield toPassedStep(at, `message ${seq}`);
  } catch (error) {
    yield {
      step: at,
      is: 'failed',
      fault: error instanceof Fault ? error : new Fault('internal', String(error), RELAY),
    };
  }
  try {
    if (seq !== null) await link.erase(seq);
    await link.unbind(durable.name);
    yield toPassedStep('clean up', 'all traces were removed');
  } catch (error) {
    if (at === 'acknowledge') throw error;
    // The first failure is what counts; the server removes an unused consumer.
  }
}

/** The step at which opening a link failed. */
function findFailedStep(code: FaultCode): RelayStepName {
  if (code === 'relay-token') return 'token';
  return code === 'relay-server' ? 'JetStream' : 'connection';
}

function formatAccepted(hasToken: boolean): string {
  return hasToken ? 'accepted' : 'not required';
}

function toPassedStep(step: RelayStepName, detail: string): RelayCheckStep {
  return { step, is: 'ok', detail };
}
