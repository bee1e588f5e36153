import type { Command } from '../../core/command/index.ts';
import { GARDEN_SCHEMA, runGarden } from './garden/index.ts';

export const command: Command = { schema: GARDEN_SCHEMA, run: runGarden };
