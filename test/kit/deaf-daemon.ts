import { findOwnDaemonPlaces, openControlSocket } from '../../core/link/index.ts';
import { realClock, realRandom, silentLog } from '../../core/ports/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import { notingHandlers } from './daemon-link.ts';

/**
 * A daemon that holds its lock and its socket, and does not end when it is asked to: `deaf-daemon.ts TENANT IDENTITY [term]`,
 * with `term` not on SIGTERM either.
 */
const [tenant = '', identity = '', term = ''] = process.argv.slice(2);
if (term === 'term') process.on('SIGTERM', () => {});
const { handlers } = notingHandlers();
const disk = createRealDisk(silentLog);
await openControlSocket({
  places: findOwnDaemonPlaces({ tenant, identity }),
  disk,
  random: realRandom,
  clock: realClock,
  handlers,
});
process.stdout.write('listens\n');
setInterval(() => {}, 60_000);
