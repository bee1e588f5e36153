import type { Command } from '../../../command/index.ts';
import type { CommandHost } from '../../module.ts';
import { BRAINCLAW_SCHEMA } from './args.ts';
import { runBrainclaw } from './run.ts';

/** Creates `hivebar brainclaw`. */
export const createCommand = (host: CommandHost): Command => ({
  schema: BRAINCLAW_SCHEMA,
  run: (args, io) => runBrainclaw(args, io, host),
});
