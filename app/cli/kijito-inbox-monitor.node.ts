#!/usr/bin/env node
import '../compose/early.node.ts'; // first: from here on a SIGUSR1 is safe
import { main } from './main.node.ts';

// The name the Kijito specification gives the headless watcher: the same flags, so it drops in.
await main(['watch', ...process.argv.slice(2)]);
