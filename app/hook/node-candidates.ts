import { posix, win32 } from 'node:path';

/**
 * Lists where a Node may be that belongs to the package, besides the one that runs it: the package `node` in its own modules or
 * beside it, and the Node into whose prefix the package was installed (`PREFIX/lib/node_modules/hivebar`, on Windows
 * `PREFIX\\node_modules\\hivebar`). The last one survives an upgrade in which the real path of Node contains its version.
 *
 * @param root the folder of the package, absolute
 */
export function findNodeCandidates(root: string, os: NodeJS.Platform): readonly string[] {
  const { join, dirname, basename } = os === 'win32' ? win32 : posix;
  const modules = dirname(root);
  const own = ['node', 'bin', os === 'win32' ? 'node.exe' : 'node'];
  const isInModules = basename(modules) === 'node_modules';
  const prefix = dirname(modules);
  return [
    join(root, 'node_modules', ...own),
    ...(isInModules ? [join(modules, ...own)] : []),
    ...(isInModules && os === 'win32' ? [join(prefix, 'node.exe')] : []),
    ...(isInModules && os !== 'win32' && basename(prefix) === 'lib' ? [join(dirname(prefix), 'bin', 'node')] : []),
  ];
}
