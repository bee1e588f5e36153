// Loaded before a program with NODE_OPTIONS=--import: it kills itself before the call numbered KILL_AT that changes something
// below KILL_BELOW.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const last = Number(process.env.KILL_AT);
const below = process.env.KILL_BELOW;
const { WRONLY, RDWR } = { WRONLY: fs.constants.O_WRONLY, RDWR: fs.constants.O_RDWR };
const open = new Set();
let count = 0;

function step() {
  if (count === last) process.kill(process.pid, 'SIGKILL');
  count += 1;
}

/** Counts the calls of `name` whose first argument is a path below, or a descriptor that was opened there. */
function watched(name, isMeant = () => true) {
  const real = fs[name];
  fs[name] = (...args) => {
    const [at] = args;
    const isThere = typeof at === 'number' ? open.has(at) : String(at).startsWith(below);
    const isCounted = isThere && isMeant(...args);
    if (isCounted) step();
    const answer = real(...args);
    if (name === 'openSync' && isCounted) open.add(answer);
    return answer;
  };
}

watched('openSync', (_, flags) => (flags & (WRONLY | RDWR)) !== 0);
for (const name of ['writeSync', 'ftruncateSync', 'fsyncSync', 'fdatasyncSync', 'closeSync']) watched(name);
for (const name of ['renameSync', 'linkSync', 'unlinkSync', 'mkdirSync']) watched(name);
syncBuiltinESMExports();
