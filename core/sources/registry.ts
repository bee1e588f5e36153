import { agmsg } from './agmsg/module.ts';
import { amail } from './amail/module.ts';
import { amq } from './amq/module.ts';
import { brainclaw } from './brainclaw/module.ts';
import { claude } from './claude/module.ts';
import { codex } from './codex/module.ts';
import { daemon } from './daemon/module.ts';
import { external } from './external/module.ts';
import { garden } from './garden/module.ts';
import { gas } from './gas/module.ts';
import { kijito } from './kijito/module.ts';

/**
 * Every source, in the order of lists. Prefixes, reserved names, settings, checks and the table of the docs derive from it, see
 * `derived.ts`. To add a source, add one row.
 */
export const SOURCES = { kijito, claude, garden, brainclaw, daemon, amq, codex, amail, gas, agmsg, external };
