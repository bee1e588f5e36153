import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The only systemctl and loginctl that a program finds: they write down what they are asked, and start nothing. */
export interface UserSystemd {
  readonly env: Readonly<Record<string, string>>;
  /** Every call so far, `PROGRAM ARGUMENTS`. */
  readonly said: readonly string[];
  /** The text of a unit of the user. Null: it is not there. */
  unit(name: string): string | null;
  unitPath(name: string): string;
}

/**
 * @param home the HOME of the user
 * @param fails what a call must hold, to end with 1 and say so
 */
export function userSystemd(home: string, fails: string = 'never'): UserSystemd {
  const bin = join(home, 'systemd-stand-ins');
  const calls = join(bin, 'said');
  mkdirSync(bin, { recursive: true });
  writeFileSync(calls, '');
  for (const name of ['systemctl', 'loginctl']) {
    const text = `echo "${name} $*" >>'${calls}'\ncase "$*" in *'${fails}'*) echo 'Access denied' >&2; exit 1;; esac\n`;
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}`, { mode: 0o755 });
  }
  const unitPath = (name: string): string => join(home, '.config/systemd/user', `${name}.service`);
  return {
    env: { PATH: `${bin}:/bin:/usr/bin` },
    get said() {
      return readFileSync(calls, 'utf8').split('\n').slice(0, -1);
    },
    unit: (name) => (existsSync(unitPath(name)) ? readFileSync(unitPath(name), 'utf8') : null),
    unitPath,
  };
}
