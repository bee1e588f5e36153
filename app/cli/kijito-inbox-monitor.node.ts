#!/usr/bin/env node
// The Kijito specification gives the headless watcher this name. It takes the same flags, so it can replace the monitor.
process.argv.splice(2, 0, 'watch');
void import('./hivebar.node.ts');
