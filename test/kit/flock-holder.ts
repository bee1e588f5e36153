import { spawnSync } from 'node:child_process';

/** Holds the lock of the file it is given until its stdin ends: says `got`, or `held` and ends with 3. For `python3 -c`. */
export const FLOCK_HOLDER = `
import fcntl, sys
f = open(sys.argv[1], "a")
try:
    fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    print("held", flush=True)
    sys.exit(3)
print("got", flush=True)
sys.stdin.read()
`;

const has = (command: string): boolean => spawnSync(command, ['--version']).status === 0;

/** For `needs`: null where it is there. */
export const NO_PYTHON = has('python3') ? null : 'python3 is missing: apt-get install python3';
export const NO_FLOCK = has('flock') ? null : 'flock is missing: apt-get install util-linux';
