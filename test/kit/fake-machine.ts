import type { Machine } from '../../app/host/machine.node.ts';
import { stillClocks } from './still-clocks.ts';

/** A Linux machine for parts that need one: what it is not given does nothing, and it starts no program. */
export function fakeMachine(own: Pick<Machine, 'clock' | 'disk' | 'log' | 'stop'> & Partial<Machine>): Machine {
  return {
    started: () => {},
    atRest: () => {},
    tidy: () => {},
    inBurst: () => {},
    inStorm: () => {},
    env: {},
    pid: process.pid,
    os: 'linux',
    arch: 'x64',
    clocks: stillClocks,
    random: { hex: (bytes) => '0f'.repeat(bytes) },
    spawn: { run: async () => ({ is: 'not-started', why: 'nothing is run here' }) },
    onPoke: () => ({ [Symbol.dispose]: () => {} }),
    ...own,
  };
}
