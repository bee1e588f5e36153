import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { PNG } from 'pngjs';
import { formatIconPack, ICON_PACK, openIcons } from '../app/tray/index.ts';
import { BADGES, PANELS, STATES } from './icon-svg.ts';
import { renderIcons } from './icons.ts';

const folder = join(import.meta.dirname, '../assets/icons');
const icons = openIcons(folder);

/** For any panel, and for one that is known. */
const SETS = ['', 'light/', 'dark/'] as const;

const rendered = await renderIcons();
const readImage = (name: string): Buffer => rendered.get(name) ?? assert.fail(name);
const listImages = (folder: string): readonly string[] =>
  [...rendered.keys()].filter((name) => name.startsWith(folder));

test('the icons of this checkout are what their sources render to', () => {
  assert.ok(readFileSync(join(folder, ICON_PACK)).equals(formatIconPack(rendered)));
  assert.ok(readFileSync(join(folder, '44/up-none.png')).equals(readImage('44/up-none.png')));
  assert.deepEqual(globSync('**/*.*', { cwd: folder }).toSorted(), [join('44', 'up-none.png'), ICON_PACK]);
});

test('a file of icons that is cut short, or lacks an image, is an error that names it', () => {
  const cut = mkdtempSync(join(tmpdir(), 'hivebar-icons-'));
  try {
    writeFileSync(join(cut, ICON_PACK), formatIconPack(rendered).subarray(0, -1));
    assert.throws(() => [...STATES].map((state) => openIcons(cut).ico({ state, badge: '9+' })), /icons\.br is damaged/);
    writeFileSync(join(cut, ICON_PACK), formatIconPack(new Map()));
    assert.throws(() => openIcons(cut).png({ state: 'up', badge: '1' }), /icons\.br has no image 44\/up-1\.png/);
  } finally {
    rmSync(cut, { recursive: true, force: true });
  }
});

test('a pixmap read at run time has the pixels of its PNG, in ARGB', () => {
  for (const state of STATES) {
    for (const badge of BADGES) {
      const pixmaps = icons.pixmaps({ state, badge });
      assert.deepEqual(
        pixmaps.map((p) => [p.width, p.height]),
        [
          [22, 22],
          [32, 32],
          [44, 44],
        ],
      );
      for (const { width, argb } of pixmaps) {
        const { data } = PNG.sync.read(readImage(`${width}/${state}-${badge}.png`));
        for (let i = 0; i < data.length; i += 4) {
          const [r, g, b, a] = data.subarray(i, i + 4);
          assert.deepEqual([...argb.subarray(i, i + 4)], [a, r, g, b]);
        }
      }
    }
  }
});

test('states differ in shape and not only in colour: also in grey no two icons are alike', () => {
  const grey = (rgba: Buffer): string => {
    const out: number[] = [];
    for (let i = 0; i < rgba.length; i += 4) {
      const [r = 0, g = 0, b = 0, a = 0] = rgba.subarray(i, i + 4);
      out.push(Math.round((0.3 * r + 0.59 * g + 0.11 * b) / 64), Math.round(a / 128));
    }
    return out.join();
  };
  for (const set of SETS) {
    const seen = new Map<string, string>();
    for (const name of listImages(`${set}22/`)) {
      const key = grey(PNG.sync.read(readImage(name)).data);
      assert.equal(seen.get(key), undefined, `${name} looks like ${seen.get(key)}`);
      seen.set(key, name);
    }
    assert.equal(seen.size, STATES.length * BADGES.length);
  }
});

test('every icon stands out from a dark and from a light panel, and one for a known panel from that', () => {
  const panels = { '': [0x30, 0xf4], 'light/': [0xf4], 'dark/': [0x30] };
  for (const set of SETS) {
    for (const name of listImages(`${set}22/`)) {
      const { data } = PNG.sync.read(readImage(name));
      for (const panel of panels[set]) {
        let clear = 0;
        for (let i = 0; i < data.length; i += 4) {
          const [r = 0, g = 0, b = 0, a = 0] = data.subarray(i, i + 4);
          if (a > 200 && contrast(luminance(r, g, b), luminance(panel, panel, panel)) >= 3) clear += 1;
        }
        assert.ok(clear >= 70, `${name} on ${panel}: only ${clear} pixels stand out`);
      }
    }
  }
});

test('for a known panel its own pictures are shown, and elsewhere those for any', () => {
  const icon = { state: 'up', badge: '3' } as const;
  for (const panel of PANELS) {
    const themed = openIcons(folder, panel);
    assert.ok(themed.png(icon).equals(readImage(`${panel}/44/up-3.png`)));
    assert.notDeepEqual(themed.pixmaps(icon), icons.pixmaps(icon));
    assert.ok(themed.ico(icon).equals(icons.ico(icon)));
    assert.ok(themed.template(icon).equals(icons.template(icon)));
  }
});

test('the template for macOS is black and transparent only', () => {
  for (const state of STATES) {
    const { data } = PNG.sync.read(icons.template({ state, badge: 'none' }));
    for (let i = 0; i < data.length; i += 4) assert.ok(data[i + 3] === 0 || data.readUIntBE(i, 3) === 0);
  }
});

function luminance(...rgb: readonly number[]): number {
  const [r = 0, g = 0, b = 0] = rgb.map((v) =>
    v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: number, b: number): number {
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}
