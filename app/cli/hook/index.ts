export { type HookArgs, hookArgs } from './args.ts';
export { runHook } from './run.ts';
export { isPerson } from './stdin.node.ts';
