import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Scratch, scratch } from './scratch.ts';

/** Stands for a program that sends what a person typed. It writes down how it was called, and ends as it is told. */
export interface CalledProgram extends Disposable {
  readonly path: string;
  /** Its folder is first on this PATH. */
  readonly env: Readonly<Record<string, string>>;
  /** The arguments of the last call; null before the first. */
  args(): readonly string[] | null;
  /** The content of its stdin at the last call. */
  input(): string;
  /** The value that a variable had at the last call. */
  variable(name: string): string | null;
  /** How the next calls end. */
  end(code: number, stderr: string): void;
}

/** @param at where it lies, absolute; absent: a folder of its own */
export function calledProgram(name: string, at?: string): CalledProgram {
  const home: Scratch = scratch();
  const path = at ?? home.at(name);
  const folder = home.dir;
  writeFileSync(
    path,
    `#!/bin/sh
printf '%s\\0' "$@" > '${folder}/args.new'
cat > '${folder}/input'
env > '${folder}/env'
mv '${folder}/args.new' '${folder}/args'
[ -f '${folder}/stderr' ] && cat '${folder}/stderr' >&2
exit "$(cat '${folder}/code' 2>/dev/null || echo 0)"
`,
  );
  chmodSync(path, 0o700);
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  return {
    path,
    env: { PATH: `${folder}:/usr/bin:/bin` },
    args: () => (existsSync(join(folder, 'args')) ? read('args').split('\0').slice(0, -1) : null),
    input: () => read('input'),
    variable: (wanted) => new RegExp(`^${wanted}=(.*)$`, 'm').exec(read('env'))?.[1] ?? null,
    end(code, stderr) {
      writeFileSync(join(folder, 'code'), String(code));
      writeFileSync(join(folder, 'stderr'), stderr);
    },
    [Symbol.dispose]: () => home[Symbol.dispose](),
  };
}
