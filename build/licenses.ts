/** The licences of what the package holds of others. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { HELPER_PROGRAMS } from '../app/helper-programs.node.ts';

const ROOT = join(import.meta.dirname, '..');

/** The file of the package with the texts. */
export const LICENSES = 'THIRD-PARTY-LICENSES.txt';

/** Texts that a package keeps beside the programs of others that it holds, and what one of them refers to. */
const PROGRAM_LICENSES = [
  ['terminal-notifier', 'node_modules/node-notifier/vendor/terminal-notifier-LICENSE'],
  ['SnoreToast', 'node_modules/node-notifier/vendor/snoreToast/LICENSE'],
  ['GNU General Public License, as the licence of SnoreToast refers to it', 'build/gpl-3.0.txt'],
] as const;

/** A package of which something is in ours. */
interface Library {
  readonly name: string;
  readonly version: string;
  /** As its package.json names it. */
  readonly license: string;
  readonly text: string;
}

/** Returns the folders of all packages that the bundles hold a part of. */
function listBundledFolders(bundles: readonly Metafile[]): readonly string[] {
  const inputs = bundles.flatMap(({ outputs }) => Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs)));
  const folders = inputs.flatMap((path) => /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  const programs = Object.values(HELPER_PROGRAMS).flatMap(([file]) => `node_modules/${file.split('/')[0]}`);
  return [...new Set([...folders, ...programs])].toSorted();
}

/**
 * Formats the licence of every package that the bundles or the helper programs are part of.
 * @throws Error for a package without a licence
 */
export function formatLicenses(bundles: readonly Metafile[]): string {
  const libraries = listBundledFolders(bundles).map(readLibrary);
  const unique = new Map(libraries.map((library) => [`${library.name}@${library.version}`, library]));
  const programs = PROGRAM_LICENSES.map(([title, path]) => formatEntry(title, readFileSync(join(ROOT, path), 'utf8')));
  return [
    'The package of Hivebar holds parts of these packages, and programs that came with them. Each is under its own licence.\n',
    ...[...unique].map(([title, { license, text }]) => formatEntry(`${title} (${license})`, text)),
    ...programs,
  ].join('\n');
}

function formatEntry(title: string, text: string): string {
  return `${'='.repeat(78)}\n${title}\n${'='.repeat(78)}\n\n${text.replaceAll('\r\n', '\n').trim()}\n`;
}

function readLibrary(folder: string): Library {
  const path = join(ROOT, folder);
  const { name, version, license, author } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly version: string;
    readonly license: string;
    readonly author?: string | { readonly name: string };
  };
  const files = readdirSync(path).filter((file) => /^(licen[sc]e|copying|notice)\b/i.test(file));
  const texts = files.toSorted().map((file) => readFileSync(join(path, file), 'utf8'));
  if (texts.length > 0) return { name, version, license, text: texts.join('\n\n') };
  const holder = typeof author === 'string' ? author : author?.name;
  if (license !== 'MIT' || holder === undefined)
    throw new Error(`${folder} has no licence: look for its text, or leave it out`);
  return { name, version, license, text: `Copyright (c) ${holder}\n\n${MIT}` };
}

/** For a package that names this licence in its package.json and brings no text. */
const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`;
