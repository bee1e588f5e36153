#!/usr/bin/env node
import '../compose/early.node.ts'; // first: from here on a SIGUSR1 is safe
import { main } from './main.node.ts';

await main(process.argv.slice(2));
