// A notification daemon as a process of its own, for tests that stop or kill it: `node notification-server.mjs`, on the
// session bus of its environment. One JSON line per call on stdout, the first is {"member":"ready"}.
import { openSessionBus } from '../../app/desktop/index.ts';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { startStandInDaemon } from './stand-in-notification-daemon.ts';

const say = (call) => process.stdout.write(`${JSON.stringify(call)}\n`);
const bus = await openSessionBus({ env: process.env, log: silentLog, clock: realClock });
// Once the answer is on the bus, so that a test that ends this process then does not take the answer with it.
await startStandInDaemon(bus, ['body', 'actions'], { push: (call) => setImmediate(say, call) });
say({ member: 'ready', args: [] });
process.stdin.resume();
