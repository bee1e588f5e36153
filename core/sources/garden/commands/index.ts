import type { Command } from '../../../command/index.ts';
import type { CommandHost } from '../../module.ts';
import { GARDEN_SCHEMA } from './args.ts';
import { runGarden } from './run.ts';

/** Creates `hivebar garden`. */
export const createCommand = (host: CommandHost): Command => ({
  schema: GARDEN_SCHEMA,
  run: (args, io) => runGarden(args, io, host),
});
