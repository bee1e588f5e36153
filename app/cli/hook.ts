import { type Command, parseCommandLine } from '../../core/command/index.ts';
import { HOOK_SCHEMA } from './hook-schema.ts';

export const command: Command = {
  schema: HOOK_SCHEMA,
  async run(args, io) {
    if (Object.hasOwn(HOOK_SCHEMA.verbs, args[0] ?? '')) {
      const { runHookInstall } = await import('./hook-install.ts');
      const values = parseCommandLine(HOOK_SCHEMA, args);
      if (values.verb !== null) return await runHookInstall(values, io);
    }
    const { answerHook } = await import('./hook/index.ts');
    return await answerHook(args, io);
  },
};
