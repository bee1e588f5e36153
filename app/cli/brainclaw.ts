import type { Command } from '../../core/command/index.ts';
import { BRAINCLAW_SCHEMA, runBrainclaw } from './brainclaw/index.ts';

export const command: Command = { schema: BRAINCLAW_SCHEMA, run: runBrainclaw };
