import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IconName } from './icon.ts';
import { type Pixmap, parsePixmap } from './pixmap.ts';

const SIZES = [22, 32, 44] as const;

/** The panel the icon stands on; `auto`: any, so the icon brings a ring that sets it off from both. */
export type IconTheme = 'auto' | 'light' | 'dark';

/** The pre-rendered icons. Each is read once, when it is first shown. */
export interface TrayIcons {
  /** For a StatusNotifierItem: 22, 32 and 44 px. */
  pixmaps(icon: IconName): readonly Pixmap[];
  /** 44 px. */
  png(icon: IconName): Buffer;
  /** 16, 20, 24 and 32 px. */
  ico(icon: IconName): Buffer;
  /** For macOS: alpha only, without a badge. */
  template(icon: IconName): Buffer;
}

/**
 * `folder` is assets/icons. The theme is for Linux: macOS colours its template itself, and on Windows the icon reads on
 * both. Reading throws what node:fs throws when a file is missing.
 */
export function openIcons(folder: string, theme: IconTheme = 'auto'): TrayIcons {
  const read = (name: string): Buffer => readFileSync(join(folder, name));
  const themed = (name: string): Buffer => read(theme === 'auto' ? name : `${theme}/${name}`);
  const toIconFile = ({ state, badge }: IconName): string => `${state}-${badge}`;
  const cache = new Map<string, readonly Pixmap[]>();
  return {
    pixmaps: (icon) => {
      const name = toIconFile(icon);
      const known = cache.get(name);
      if (known !== undefined) return known;
      const pixmaps = SIZES.map((size) => parsePixmap(themed(`${size}/${name}.png`)));
      cache.set(name, pixmaps);
      return pixmaps;
    },
    png: (icon) => themed(`44/${toIconFile(icon)}.png`),
    ico: (icon) => read(`windows/${toIconFile(icon)}.ico`),
    template: ({ state }) => read(`macos/${state}.png`),
  };
}
