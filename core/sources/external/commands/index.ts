import { type Command, defineCommand } from '../../../command/index.ts';
import type { CommandHost } from '../../module.ts';
import { addSource } from './add.ts';
import { removeSource, restartSource } from './change.ts';
import { listSources, showSource } from './list.ts';
import { SOURCE_SCHEMA } from './schema.ts';

/** Creates `hivebar source`. */
export const createCommand = (host: CommandHost): Command =>
  defineCommand(SOURCE_SCHEMA, async (values, io) => {
    switch (values.verb) {
      case 'add':
        return await addSource(values, io, host);
      case 'list':
        return await listSources(values.json, io, host);
      case 'show':
        return await showSource(values.name, values.json, io, host);
      case 'check':
        return await (await import('./check.ts')).checkSource(values, io, host);
      case 'restart':
        return await restartSource(values.name, io, host);
      case 'remove':
        return await removeSource(values.name, io, host);
    }
  });
