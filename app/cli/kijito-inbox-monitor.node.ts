#!/usr/bin/env node
// The name the Kijito specification gives the headless watcher: the same flags, so it drops in.
process.argv.splice(2, 0, 'watch');
void import('./hivebar.node.ts');
