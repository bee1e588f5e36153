import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { Script } from 'node:vm';
import { realFiles } from '../../core/ports/files.node.ts';
import { openCompileCacheDir } from './compile-cache.node.ts';

/** Names what is in the files of the hook, in short; written here when the package is made. */
declare const HOOK_CODE: string;

/**
 * `hivebar hook` as the installed script runs it, `node hook.cjs hook --harness ... --event EVENT`: in the package a program of
 * its own, which loads what a hook needs and nothing else.
 *
 * Node's cache of compiled code is made before anything ran, and so it lacks nearly every function: to compile them was a third
 * of what a hook takes beyond a bare Node. This one is made at the end of a run, for each event, and again every hour, with
 * what the runs since have used. Without it, or when it is another Node's, the code is compiled as ever.
 */
const RENEWED_MS = 3_600_000;
const MAIN = './hook-now.cjs';
const PART = /^\.\/hook-[a-z]+\.cjs$/;
const requireOther = createRequire(import.meta.url);
const cacheDir = openCompileCacheDir();

try {
  load(MAIN);
} catch (error) {
  // A package that is not whole: to a harness no reason to hold its agent.
  process.stderr.write(`hivebar hook: ${error instanceof Error ? error.message.split('\n', 1) : String(error)}\n`);
}

/** `require`, with a cache for what is ours. */
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

/** Null without a folder that can be trusted: a slower hook. */
function toCachePath(name: string): string | null {
  if (cacheDir === null) return null;
  const { argv, version, arch } = process;
  const event = argv[argv.indexOf('--event') + 1] ?? '';
  const moment = /^[A-Za-z]+$/.test(event) ? event : 'any';
  return join(cacheDir, `${name}-${HOOK_CODE}-${version}-${arch}-${moment}.bin`);
}

/** It is in the file twice: V8 believes what it is given, and a file that was torn is not to be run. */
function readCached(path: string): { readonly data: Buffer; readonly isNew: boolean } | null {
  try {
    const age = Date.now() - statSync(path).mtimeMs;
    const both = readFileSync(path);
    const half = both.length / 2;
    const data = both.subarray(0, half);
    return data.equals(both.subarray(half)) ? { data, isNew: age >= 0 && age < RENEWED_MS } : null;
  } catch {
    return null; // none yet
  }
}

function saveCached(path: string, data: Buffer): void {
  const temp = `${path}.${process.pid}`;
  try {
    const fd = openSync(temp, 'wx', 0o600);
    try {
      writeSync(fd, Buffer.concat([data, data]));
      fsyncSync(fd); // else its name may outlive its bytes
    } finally {
      closeSync(fd);
    }
    realFiles.rename(temp, path);
  } catch {
    // A slower hook, and the next one tries again.
  }
}
