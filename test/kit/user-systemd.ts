import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The only systemctl and loginctl that a program finds: they write down what they are asked. What they start is a stand-in
 * that answers once at the control socket of the daemon, and then is gone: it is no daemon.
 */
export interface UserSystemd {
  readonly env: Readonly<Record<string, string>>;
  /** Every call so far, `PROGRAM ARGUMENTS`. */
  readonly requests: readonly string[];
  /** The text of a unit of the user. Null: it is not there. */
  unit(name: string): string | null;
  unitPath(name: string): string;
}

/**
 * @param home the HOME of the user
 * @param fails what a call must hold, to end with 1 and say so
 * @param journal what its journalctl prints; null: what it starts answers
 */
export function userSystemd(home: string, fails: string = 'never', journal: string | null = null): UserSystemd {
  const bin = join(home, 'systemd-stand-ins');
  const calls = join(bin, 'said');
  mkdirSync(bin, { recursive: true });
  writeFileSync(calls, '');
  for (const name of ['systemctl', 'loginctl']) {
    const starts = name === 'systemctl' && journal === null ? ANSWERS_ONCE.replace('NODE', process.execPath) : '';
    const text = `echo "${name} $*" >>'${calls}'\ncase "$*" in *'${fails}'*) echo 'Access denied' >&2; exit 1;; esac\n`;
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}${starts}`, { mode: 0o755 });
  }
  writeFileSync(join(bin, 'journalctl'), `#!/bin/sh\ncat <<'END'\n${journal ?? ''}\nEND\n`, { mode: 0o755 });
  const unitPath = (name: string): string => join(home, '.config/systemd/user', `${name}.service`);
  return {
    env: { PATH: `${bin}:/bin:/usr/bin` },
    get requests() {
      return readFileSync(calls, 'utf8').split('\n').slice(0, -1);
    },
    unit: (name) => (existsSync(unitPath(name)) ? readFileSync(unitPath(name), 'utf8') : null),
    unitPath,
  };
}

const LISTENER = [
  "const fs=require('fs'),net=require('net'),[d]=process.argv.slice(1),s=d+'/ctl.sock',t=d+'/ctl.token';",
  "fs.mkdirSync(d,{recursive:true,mode:0o700});fs.writeFileSync(t,'0'.repeat(64)+'\\n',{mode:0o600});",
  'const end=()=>{for(const f of [s,t])try{fs.unlinkSync(f)}catch{}process.exit()};',
  'net.createServer((c)=>{c.destroy();end()}).listen(s);setTimeout(end,5000);',
].join('');

/** Behind a restart, and behind the question whether it runs; returns when it listens. */
const ANSWERS_ONCE = `
if [ "$2" = restart ] || [ "$2" = is-active ]; then
  for name; do :; done
  name=\${name#prism-daemon-}; at="$HIVEBAR_HOME/run/prism-daemon/\${name%.service}"
  if [ ! -S "$at/ctl.sock" ]; then
    'NODE' -e "${LISTENER.replaceAll('"', '\\"')}" "$at" >/dev/null 2>&1 </dev/null &
    n=0; while [ ! -S "$at/ctl.sock" ] && [ $n -lt 500 ]; do sleep 0.02; n=$((n+1)); done
  fi
fi
`;
