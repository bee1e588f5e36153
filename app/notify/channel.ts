import type { Banner, BannerButton, BannerKey } from './banner.ts';

export type ChannelState =
  /** Banners can be shown. `by` says by what, for the page and `doctor`. */
  | { readonly is: 'ready'; readonly by: string }
  /** Banners cannot be shown now, but that may change. */
  | { readonly is: 'unavailable'; readonly why: string }
  /** There is no way to show banners here, or notifications are switched off. */
  | { readonly is: 'off'; readonly why: string };

/** The part of a banner that was clicked. */
export type BannerPart = 'banner' | BannerButton['id'];

/** Receives what a channel reports, at any time between its creation and its disposal. */
export interface ChannelListener {
  /**
   * A person clicked the banner or one of its buttons. With the `activationToken` the opened program can raise its window (XDG
   * activation). Most desktops give none.
   */
  clicked(key: BannerKey, part: BannerPart, activationToken: string | null): void;
  /**
   * The banner is gone, and not because of our `withdraw`. `person` means that somebody closed or clicked it, so they have seen
   * it.
   */
  closed(key: BannerKey, by: 'person' | 'desktop'): void;
  /** Called as soon as the state is known, then at each change. */
  state(state: ChannelState): void;
}

/**
 * One way to show banners on a desktop. Calls for one key are made one after the other, never at the same time. Disposing removes
 * the banners that could no longer answer a click.
 */
export interface NotifyChannel extends AsyncDisposable {
  /**
   * Shows the banner, or replaces the banner with the same key if that is on the screen. Resolves when the desktop accepted it,
   * which does not mean that anybody saw it. @throws Error when the desktop refused it or there is none.
   */
  show(banner: Banner): Promise<void>;
  /** Removes the banner if it is on the screen. @throws Error when the desktop refused. */
  withdraw(key: BannerKey): Promise<void>;
}

/** How the desktop knows Hivebar. */
export interface DesktopIdentity {
  /** The name of our .desktop file, without the suffix. */
  readonly desktopEntry: string;
  /** The absolute path of an image. */
  readonly icon: string;
}

/** Opens a channel that reports to `listener`. */
export type OpenChannel = (listener: ChannelListener) => NotifyChannel;
