import { createHash } from 'node:crypto';
import type { BannerKey } from './banner.ts';

/**
 * The open banners of a channel that needs one process per banner. Their number is limited, and the oldest goes first. A process
 * that was replaced may still report something; `isLatest` says whether it belongs to the banner on the screen.
 */
export class OpenBanners<T> {
  readonly #most: number;
  readonly #open = new Map<BannerKey, T>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Adds a banner. Returns those that must go: the one it replaces, and the oldest when there are too many. */
  add(key: BannerKey, item: T): [BannerKey, T, 'replaced' | 'crowded'][] {
    const before = this.#open.get(key);
    this.#open.delete(key); // so that it becomes the youngest
    this.#open.set(key, item);
    const going: [BannerKey, T, 'replaced' | 'crowded'][] = before === undefined ? [] : [[key, before, 'replaced']];
    for (const [oldest, old] of this.#open) {
      if (this.#open.size <= this.#most) break;
      this.#open.delete(oldest);
      going.push([oldest, old, 'crowded']);
    }
    return going;
  }

  isLatest(key: BannerKey, item: T): boolean {
    return this.#open.get(key) === item;
  }

  remove(key: BannerKey): T | undefined {
    const item = this.#open.get(key);
    this.#open.delete(key);
    return item;
  }

  keys(): BannerKey[] {
    return [...this.#open.keys()];
  }
}

/** Makes a short name of a key that every desktop accepts, whatever the persona is called. */
export function toGroupId(key: BannerKey): string {
  return `hivebar-${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;
}
