import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What keeps `listeningPorts` from telling, for `needs`; null when nothing does. */
export const NO_LISTENING_PORTS =
  process.platform === 'linux' ? null : 'the sockets of a process are told by /proc of Linux only';

/** The states of the sockets of this machine that have a local port over IPv4, as Linux writes them: `0A` listens, `01` is connected. */
export function findPortStates(port: number): readonly string[] {
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  const fields = rows.map((row) => row.trim().split(/\s+/));
  return fields.flatMap(([, local = '', , state = '']) =>
    Number.parseInt(local.split(':')[1] ?? '', 16) === port ? [state] : [],
  );
}

/** The TCP ports on which a process listens, whatever the address. Empty when it has ended. */
export function listeningPorts(pid: number): readonly number[] {
  const inodes = new Map<string, number>();
  for (const table of ['tcp', 'tcp6']) {
    for (const line of readFileSync(`/proc/net/${table}`, 'utf8').split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/);
      const port = Number.parseInt(fields[1]?.split(':')[1] ?? '', 16);
      if (fields[3] === '0A') inodes.set(`socket:[${fields[9]}]`, port);
    }
  }
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).flatMap((fd) => inodes.get(readlinkSync(`${folder}/${fd}`)) ?? []);
  } catch {
    return []; // it ended, or closed a descriptor, while it was looked at
  }
}
