#!/usr/bin/env node
import { main } from './main.node.ts';

await main(process.argv.slice(2));
