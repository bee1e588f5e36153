import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { Script } from 'node:vm';
import { realFiles } from '../../core/ports/files.node.ts';
import { openCompileCacheDir } from './compile-cache.node.ts';

/** A short name for the contents of the hook's files. The build of the package inserts it here. */
declare const HOOK_CODE: string;

/**
 * The installed script runs `hivebar hook` as `node hook.cjs hook --harness ... --event EVENT`. In the package this is a
 * separate program, which loads only what a hook needs.
 *
 * Node creates its cache of compiled code before anything ran, so the cache lacks nearly every function. Compiling those took a
 * third of the time that a hook needs beyond a bare Node. This cache is created at the end of a run, per event, and renewed
 * every hour with the functions that later runs used. Without a cache, or with one of another Node, the code is compiled as
 * usual.
 */
const RENEWED_MS = 3_600_000;
const MAIN = './hook-now.cjs';
const PART = /^\.\/hook-[a-z]+\.cjs$/;
const requireOther = createRequire(import.meta.url);
const cacheDir = openCompileCacheDir();

try {
  load(MAIN);
} catch (error) {
  // The package is incomplete. That is no reason for a harness to hold its agent.
  process.stderr.write(`hivebar hook: ${error instanceof Error ? error.message.split('\n', 1) : String(error)}\n`);
}

/** Works like `require`, with a cache for our own files. */
function load(name: string): unknown {
  if (!PART.test(name)) return requireOther(name);
  const filename = join(import.meta.dirname, name);
  const source = readFileSync(filename, 'utf8');
  const path = toCachePath(basename(name, '.cjs'));
  const cached = path === null ? null : readCached(path);
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
    filename,
    ...(cached === null ? {} : { cachedData: cached.data }),
  });
  const isGood = cached?.isNew === true && script.cachedDataRejected === false;
  if (path !== null && !isGood) process.once('exit', () => saveCached(path, script.createCachedData()));
  const module = { exports: {} };
  const run = script.runInThisContext() as (...args: unknown[]) => void;
  run(module.exports, load, module, filename, import.meta.dirname);
  return module.exports;
}

/** Null when no folder can be trusted; the hook is then slower. */
function toCachePath(name: string): string | null {
  if (cacheDir === null) return null;
  const { argv, version, arch } = process;
  const event = argv[argv.indexOf('--event') + 1] ?? '';
  const moment = /^[A-Za-z]+$/.test(event) ? event : 'any';
  return join(cacheDir, `${name}-${HOOK_CODE}-${version}-${arch}-${moment}.bin`);
}

/** The file contains the data twice. V8 trusts its input, so the data of a torn file must not be used. */
function readCached(path: string): { readonly data: Buffer; readonly isNew: boolean } | null {
  try {
    const age = Date.now() - statSync(path).mtimeMs;
    const both = readFileSync(path);
    const half = both.length / 2;
    const data = both.subarray(0, half);
    return data.equals(both.subarray(half)) ? { data, isNew: age >= 0 && age < RENEWED_MS } : null;
  } catch {
    return null; // there is none yet
  }
}

function saveCached(path: string, data: Buffer): void {
  const temp = `${path}.${process.pid}`;
  try {
    const fd = openSync(temp, 'wx', 0o600);
    try {
      writeSync(fd, Buffer.concat([data, data]));
      fsyncSync(fd); // otherwise the file's name may survive a crash and its bytes may not
    } finally {
      closeSync(fd);
    }
    realFiles.rename(temp, path);
  } catch {
    // The hook is slower, and the next one tries again.
  }
}
