import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IconName } from './model.ts';
import { type Pixmap, parsePixmap } from './pixmap.ts';

const SIZES = [22, 32, 44] as const;

/** The colour of the panel. `auto` suits both, because the icon then has a ring that separates it from the panel. */
export type IconTheme = 'auto' | 'light' | 'dark';

/** Reads the pre-rendered icons, each once, when it is first shown. */
export interface TrayIcons {
  /** For a StatusNotifierItem, in 22, 32 and 44 px. */
  pixmaps(icon: IconName): readonly Pixmap[];
  /** In 44 px. */
  png(icon: IconName): Buffer;
  /** In 16, 20, 24 and 32 px. */
  ico(icon: IconName): Buffer;
  /** For macOS: alpha only, without a badge. */
  template(icon: IconName): Buffer;
}

/**
 * Opens the icons in `folder`, which is assets/icons. The theme is for Linux: macOS colours its template itself, and on Windows
 * the icon is visible on both. Reading throws what node:fs throws when a file is missing.
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
