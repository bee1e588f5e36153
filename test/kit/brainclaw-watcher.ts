import { once } from 'node:events';
import { BOARD } from '../../core/sources/brainclaw/index.ts';
import { watching } from './brainclaw-watch.ts';
import { scratch } from './scratch.ts';

/**
 * A program that watches a project: `STORE AGENT...`, until its stdin ends. Says `ready` once it has seen the board, and
 * at the end what was told of the board and of each agent, as JSON.
 */
const [store = '', ...agents] = process.argv.slice(2);
process.stdin.resume();
const over = once(process.stdin, 'end');
using home = scratch();
await using watched = await watching(store, home, { pollSeconds: 1 });
await watched.until('the board', ({ reach }) => reach.is === 'up');
for (const agent of agents) await watched.until('the agent', ({ reach }) => reach.is === 'up', agent);
console.log('ready');
await over;
console.log(JSON.stringify(Object.fromEntries([BOARD, ...agents].map((address) => [address, watched.told(address)]))));
