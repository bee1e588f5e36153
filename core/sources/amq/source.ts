import { createMailFolderSource, type MailFolderOptions, type MailFolderSource } from '../mail-folders/index.ts';
import { amqLayout } from './layout.ts';
import { AMQ_PREFIX } from './settings.ts';

export interface AmqSourceOptions extends Pick<MailFolderOptions, 'id' | 'disk' | 'clock' | 'log' | 'contentChars'> {
  /** The folder that holds `agents`. */
  readonly queue: string;
  /** What follows the handle in the ids of personas: empty, or `@NAME`. */
  readonly suffix: string;
  readonly statOnly?: boolean;
}

/** One queue of AMQ as a source: its agents are personas, and so is the person. Nothing in it is ever written. */
export function createAmqSource({ queue, suffix, ...options }: AmqSourceOptions): MailFolderSource {
  return createMailFolderSource({
    ...options,
    kind: 'amq',
    root: queue,
    layout: amqLayout,
    toPersonaId: (handle) => `${AMQ_PREFIX}${handle}${suffix}`,
  });
}
