import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Io } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { Fault } from '../../core/model/index.ts';
import { realFiles, realRandom } from '../../core/ports/index.ts';
import { createRealDisk, ensurePrivateDir, readRegular, writeAtomically } from '../../core/state/index.ts';
import { checkSettingsBytes, getSettingsPath } from '../config/tray/index.ts';
import { applySettings } from './apply-settings.ts';
import { askPerson } from './ask.node.ts';
import { createStderrLog, isTypedInput } from './process.node.ts';

const MOST_BYTES = 1024 * 1024;
const EMPTY = Buffer.from('{}\n');

/**
 * Has the person edit a copy of the settings, which replaces the file only when it is valid. Text with a mistake stays in the copy,
 * so that it can be edited again.
 * @returns the exit code @throws Fault `exec-failed` for the editor, `unreadable`, `unwritable`
 */
export async function editSettings(io: Io, config: string): Promise<number> {
  const disk = createRealDisk(createStderrLog(io, 'hivebar config'));
  const path = getSettingsPath(config);
  const copy = join(config, 'config.edit.json');
  const read = (file: string): Buffer | null => {
    const bytes = readRegular(realFiles, file, MOST_BYTES);
    return bytes === null ? null : Buffer.from(bytes);
  };
  ensurePrivateDir(disk, config);
  const before = read(path);
  writeAtomically(disk, realRandom, copy, before ?? EMPTY);
  for (;;) {
    runEditor(copy, io);
    const bytes = read(copy) ?? EMPTY;
    const checked = checkSettingsBytes(bytes);
    if (checked.is === 'good') {
      if (!isSame(read(path), before))
        throw new Fault('unwritable', `${path} was changed meanwhile, and stays so: your text is in ${copy}`, CONFIG);
      const isChanged = !bytes.equals(before ?? EMPTY);
      // A person may link the file to one elsewhere, and the link must survive.
      if (isChanged) writeAtomically(disk, realRandom, before === null ? path : realpathSync(path), bytes);
      disk.files.unlink(copy);
      const words = isChanged ? `is saved, ${await applySettings(null, io)}` : 'is as it was';
      io.out(`${displayName(path)} ${words}\n`);
      return 0;
    }
    for (const { line, column, message } of checked.problems)
      io.err(`${displayName(`${copy}:${line}:${column}: ${message}`)}\n`);
    if (isTypedInput() && (await askPerson('Edit it again? [y/N] '))) continue;
    io.err(`hivebar config: ${displayName(`${path} is as it was; your text is in ${copy}`)}\n`);
    return 1;
  }
}

function isSame(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b);
}

/** VISUAL and EDITOR may hold flags too, so a shell takes them apart, as for other programs. */
function runEditor(file: string, { env }: Io): void {
  const editor = env.VISUAL || env.EDITOR || (process.platform === 'win32' ? 'notepad' : 'vi');
  const options = { stdio: 'inherit', env } as const;
  const { status, error } =
    process.platform === 'win32'
      ? spawnSync(editor, [file], { ...options, shell: true })
      : spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], options);
  if (error !== undefined || status !== 0)
    throw new Fault('exec-failed', `${editor} ended with ${error?.message ?? status}: set VISUAL or EDITOR`, CONFIG);
}

const CONFIG = { is: 'machine', key: 'config' } as const;
