import type { Channel, ChannelHost, ChannelListener, ChannelModule } from './channel.ts';
import { desktop } from './desktop.ts';
import { file } from './file.ts';

/** Every way to notify a person. Settings, names on the board and pages of the docs derive from it. */
export const CHANNELS: readonly ChannelModule[] = [desktop, file];

/** The schema of the setting `channels`: one entry per channel that has settings. */
export function createChannelsSchema(): object {
  const entries = CHANNELS.flatMap(({ name, settings }) => (settings === null ? [] : [[name, settings] as const]));
  return { type: 'object', properties: Object.fromEntries(entries), additionalProperties: false };
}

/** A channel that is switched on and not open yet. */
export interface ConfiguredChannel extends Pick<ChannelModule, 'name' | 'place'> {
  open(listener: ChannelListener): Channel;
}

/** Lists the channels that the setting `channels` switches on, and those that need no setting. */
export function listConfiguredChannels(
  settings: Readonly<Record<string, unknown>>,
  host: Omit<ChannelHost, 'listener'>,
): readonly ConfiguredChannel[] {
  return CHANNELS.flatMap((channel): ConfiguredChannel[] => {
    const entry = channel.settings === null ? {} : settings[channel.name];
    if (typeof entry !== 'object' || entry === null) return [];
    const { name, place } = channel;
    return [{ name, place, open: (listener) => channel.open({ ...entry }, { ...host, listener }) }];
  });
}
