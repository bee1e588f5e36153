import { once } from 'node:events';
import { BOARD } from '../../core/sources/brainclaw/index.ts';
import { scratch } from './scratch.ts';
import { until } from './until.ts';
import { watching } from './watch-brainclaw.ts';

/**
 * A program that watches a project: `STORE [--no-mail] AGENT...`, until its stdin ends. Says `ready` once it has seen the
 * board, `told` once anything is told of it, and on its last line what was told of the board and of each agent, as JSON.
 */
const [store = '', ...rest] = process.argv.slice(2);
const mail = rest[0] !== '--no-mail';
const agents = mail ? rest : rest.slice(1);
process.stdin.resume();
const over = once(process.stdin, 'end');
using home = scratch();
await using watched = await watching(store, home, { pollSeconds: 1, mail });
await watched.until('the board', ({ health }) => health.is === 'up');
for (const agent of agents) await watched.until('the agent', ({ health }) => health.is === 'up', agent);
console.log('ready');
let isOver = false;
const news = until('news', () => isOver || watched.delivered().length > 0, Number.POSITIVE_INFINITY);
void news.then(() => console.log('told'));
await over;
isOver = true;
await news;
console.log(
  JSON.stringify(Object.fromEntries([BOARD, ...agents].map((address) => [address, watched.delivered(address)]))),
);
