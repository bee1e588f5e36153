import type { Banner, BannerButton, BannerKey } from './banner.ts';

export type ChannelState =
  /** Banners can be shown; `by` says by what, for the page and `doctor`. */
  | { readonly is: 'ready'; readonly by: string }
  /** Not now; it may change. */
  | { readonly is: 'unavailable'; readonly why: string }
  /** There is no way here, or none is wanted. */
  | { readonly is: 'off'; readonly why: string };

/** What of a banner was clicked. */
export type BannerPart = 'banner' | BannerButton['id'];

/** What a driver tells, at any time between its making and its disposal. */
export interface ChannelListener {
  /** A person clicked the banner, or one of its buttons. `activationToken` lets the program that opens raise its window (XDG activation); most desktops give none. */
  clicked(key: BannerKey, part: BannerPart, activationToken: string | null): void;
  /** The banner is gone, and not by our `withdraw`. `person`: somebody closed or clicked it, so they took note. */
  closed(key: BannerKey, by: 'person' | 'desktop'): void;
  /** Told once at first, as soon as it is known, then at each change. */
  state(state: ChannelState): void;
}

/**
 * One way to put a banner on a desktop. The calls for one key come one after the other, never together.
 * Disposing takes down what can no longer answer a click.
 */
export interface NotifyChannel extends AsyncDisposable {
  /**
   * Shows the banner, in place of the one with its key if that is on the screen. Resolves when the desktop took it, which
   * does not say that anybody saw it. @throws Error when the desktop refused it or there is none.
   */
  show(banner: Banner): Promise<void>;
  /** Takes it down if it is there. @throws Error when the desktop refused. */
  withdraw(key: BannerKey): Promise<void>;
}

/** Who we are to the desktop. */
export interface DesktopIdentity {
  /** The name of our .desktop file, without the suffix. */
  readonly desktopEntry: string;
  /** Absolute path of a picture. */
  readonly icon: string;
}

/** Makes a driver that tells `listener`. */
export type OpenChannel = (listener: ChannelListener) => NotifyChannel;
