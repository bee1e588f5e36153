import { createMailFolderSource, type MailFolderOptions, type MailFolderSource } from '../mail-folders/index.ts';
import type { Source } from '../source.ts';
import { amqLayout } from './layout.ts';
import { AMQ_PREFIX } from './settings.ts';

export interface AmqSourceOptions extends Pick<MailFolderOptions, 'id' | 'disk' | 'clock' | 'log' | 'contentChars'> {
  /** The folder that holds `agents`. */
  readonly queue: string;
  /** What follows the handle in the ids of personas: empty, or `@NAME`. */
  readonly suffix: string;
  readonly statOnly?: boolean;
  /** Sends what a person typed; absent: the settings do not allow it. */
  readonly reply?: NonNullable<Source['reply']>;
}

/** One queue of AMQ as a source: its agents are personas, and so is the person. Nothing in it is ever written. */
export function createAmqSource({ queue, suffix, reply, ...options }: AmqSourceOptions): MailFolderSource {
  const source = createMailFolderSource({
    ...options,
    kind: 'amq',
    root: queue,
    layout: amqLayout,
    toPersonaId: (handle) => `${AMQ_PREFIX}${handle}${suffix}`,
  });
  return Object.assign(source, reply === undefined ? {} : { reply });
}
