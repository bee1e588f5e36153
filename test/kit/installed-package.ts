import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

interface InstalledPackage {
  /** The folder of Hivebar, in a `node_modules` folder. */
  readonly path: string;
  /** The packages that `npm install` of the tarball brings, with Hivebar itself, sorted. */
  readonly packages: readonly string[];
  /** What all of them take up on the disk. */
  readonly bytes: number;
}

interface LockedPackage {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Packs Hivebar and installs it in `folder`, as `npm install` of the tarball does but without a registry: dependencies are links
 * to those of this checkout, and nothing else of the checkout can be found from there.
 */
export function installPackage(folder: string): InstalledPackage {
  const modules = join(folder, 'node_modules');
  const path = join(modules, 'hivebar');
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT, stdio: 'pipe' });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error(`npm pack left no tarball in ${folder}`);
  mkdirSync(path, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, tarball), '-C', path, '--strip-components=1']);
  const dependencies = listDependencies();
  for (const name of dependencies) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  const folders = [path, ...dependencies.map((name) => join(ROOT, 'node_modules', name))];
  const bytes = folders.reduce((sum, each) => sum + measureFolder(each), 0);
  return { path, packages: [...dependencies, 'hivebar'].toSorted(), bytes };
}

/** Returns the dependencies of the package and theirs. Of the optional ones those that are for this platform. */
function listDependencies(): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const found = new Set<string>();
  const visit = ({ dependencies = {}, optionalDependencies = {} }: LockedPackage): void => {
    for (const name of [...Object.keys(dependencies), ...Object.keys(optionalDependencies)]) {
      if (found.has(name) || (name in optionalDependencies && !existsSync(join(ROOT, 'node_modules', name)))) continue;
      found.add(name);
      visit(packages[`node_modules/${name}`] ?? {});
    }
  };
  visit(packages[''] ?? {});
  return [...found];
}

/** Returns the bytes of all blocks that a folder takes up, as `du` counts them. */
function measureFolder(folder: string): number {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return [folder, ...paths.map((path) => join(folder, path))].reduce((sum, path) => {
    const { blocks, size } = lstatSync(path);
    return sum + (process.platform === 'win32' ? size : blocks * 512);
  }, 0);
}
