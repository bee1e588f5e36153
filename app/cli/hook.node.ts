import { useCompileCache } from './compile-cache.node.ts';

/**
 * `hivebar hook` as the installed script runs it, `node hook.cjs hook --harness ...`: in the package a program of its own,
 * which loads what a hook needs and nothing else. This file is small because what enables the cache is not in it.
 */
useCompileCache();
void import('./hook-now.node.ts');
