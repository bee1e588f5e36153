/**
 * Renders every tray icon from assets/svg: `node build/icons.ts` writes assets/icons, and .cache/contact-sheet.png to look at
 * them all. The set-up and the build of the package run it, so a checkout tracks no rendered picture and the installed program
 * needs no image library.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Resvg } from '@resvg/resvg-js';
import pngToIco from 'png-to-ico';
import { PNG } from 'pngjs';
import { formatIconPack, ICON_PACK } from '../app/tray/icons.node.ts';
import { buildContactSheet } from './contact-sheet.ts';
import { BADGES, buildIconSvg, buildTemplateSvg, PANELS, paintIcon, STATES } from './icon-svg.ts';

const ASSETS = join(import.meta.dirname, '../assets');

/** Panels are 22 to 32 px high, twice that on dense screens. */
export const PNG_SIZES = [22, 32, 44] as const;
/** The notification area at 100, 125, 150 and 200 %. */
const ICO_SIZES = [16, 20, 24, 32] as const;
/** Drawn at 16 pt, so twice that for a dense screen. */
const TEMPLATE_SIZE = 32;

/** The icon of a notification, which the desktop reads as a file of its own. */
const NOTIFICATION_ICON = '44/up-none.png';

/** Every image by its name. */
export async function renderIcons(): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const state of STATES) {
    const source = readFileSync(join(ASSETS, 'svg', `${state}.svg`), 'utf8');
    files.set(`macos/${state}.png`, renderPng(buildTemplateSvg(source, TEMPLATE_SIZE)));
    for (const badge of BADGES) {
      for (const size of PNG_SIZES) {
        const name = `${size}/${state}-${badge}.png`;
        files.set(name, renderPng(buildIconSvg(source, badge, size)));
        for (const panel of PANELS) {
          files.set(`${panel}/${name}`, renderPng(buildIconSvg(paintIcon(panel, state, source), badge, size)));
        }
      }
      const images = ICO_SIZES.map((size) => renderPng(buildIconSvg(source, badge, size)));
      files.set(`windows/${state}-${badge}.ico`, await pngToIco(images));
    }
  }
  return files;
}

/** The smallest pictures stand inside an ICO; to be looked at they are PNGs like the others. */
function addSmallest(files: ReadonlyMap<string, Buffer>): Map<string, Buffer> {
  const all = new Map(files);
  const [size] = ICO_SIZES;
  for (const state of STATES) {
    const source = readFileSync(join(ASSETS, 'svg', `${state}.svg`), 'utf8');
    for (const badge of BADGES) all.set(`${size}/${state}-${badge}.png`, renderPng(buildIconSvg(source, badge, size)));
  }
  return all;
}

/** RGBA without row filters: then reading one at run time takes an inflate and nothing else. */
function renderPng(svg: string): Buffer {
  const drawn = new Resvg(svg, { font: { loadSystemFonts: false } }).render();
  const image = PNG.sync.read(drawn.asPng());
  return PNG.sync.write(image, { filterType: 0, colorType: 6, deflateLevel: 9 });
}

if (import.meta.main) {
  const files = await renderIcons();
  const CACHE = join(import.meta.dirname, '../.cache');
  const fresh = join(CACHE, 'icons');
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(dirname(join(fresh, NOTIFICATION_ICON)), { recursive: true });
  writeFileSync(join(fresh, NOTIFICATION_ICON), files.get(NOTIFICATION_ICON) ?? '');
  writeFileSync(join(fresh, ICON_PACK), formatIconPack(files));
  rmSync(join(ASSETS, 'icons'), { recursive: true, force: true });
  renameSync(fresh, join(ASSETS, 'icons'));
  const sheet = new Resvg(buildContactSheet(addSmallest(files)), { font: { loadSystemFonts: false } }).render();
  writeFileSync(join(CACHE, 'contact-sheet.png'), sheet.asPng());
}
