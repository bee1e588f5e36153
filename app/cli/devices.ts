import { defineCommand, type Io, toUsageFault } from '../../core/command/index.ts';
import { displayJson, displayName } from '../../core/format/index.ts';
import { formatIso } from '../../core/model/index.ts';
import { realClock, realRandom } from '../../core/ports/index.ts';
import { createRealDisk, findOwnDirs } from '../../core/state/index.ts';
import { type Devices, openDevices } from '../host/devices.ts';
import { unwrapResponse } from './act.ts';
import { createStderrLog } from './process.node.ts';
import { askTray } from './tray-request.node.ts';

type ListedDevice = Readonly<Record<'id' | 'name' | 'created' | 'lastUsed', string>>;

export const command = defineCommand(
  {
    name: 'devices',
    about: [
      'A browser that opened a one-time link stays logged in until its device is revoked, also over restarts of Hivebar.',
      'What a revoked device has open ends at once.',
    ],
    isVerbOptional: true,
    flags: { json: { type: 'boolean', help: 'print JSON for a script' } },
    verbs: {
      revoke: {
        help: 'log a browser out: it needs a new link',
        positionals: { device: { value: 'ID', optional: true } },
        flags: { all: { type: 'boolean', help: 'log every browser out' } },
      },
    },
    examples: [
      { run: 'hivebar devices', does: 'who is logged in' },
      { run: 'hivebar devices revoke 1f0c9a2b', does: 'log one browser out' },
      { run: 'hivebar devices revoke --all', does: 'log every browser out' },
    ],
  },
  async (values, io) => {
    if (values.verb !== 'revoke') return await list(io, values.json);
    const { device, all } = values;
    if ((device === undefined) === !all) throw toUsageFault(new Error('devices revoke: needs an ID or --all'));
    return await revoke(io, device ?? 'all');
  },
);

async function list(io: Io, json: boolean): Promise<number> {
  const response = await askTray({ method: 'GET', path: '/api/v1/devices', body: null }, io.env);
  const body = response.is === 'not-running' ? null : unwrapResponse(response, io);
  if (response.is !== 'not-running' && body === null) return 1;
  const rows = body === null ? listStored(openStored(io)) : (JSON.parse(body) as { devices: ListedDevice[] }).devices;
  const devices = rows.map(({ id, name, created, lastUsed }) => ({ id, name, created, lastUsed }));
  if (json) {
    io.out(`${displayJson(JSON.stringify(devices))}\n`);
    return 0;
  }
  if (devices.length === 0) io.out('no browser is logged in: open a link with hivebar open\n');
  const width = Math.max(...devices.map(({ name }) => [...displayName(name)].length));
  for (const { id, name, created, lastUsed } of devices)
    io.out(`${id}  ${displayName(name).padEnd(width)}  since ${created.slice(0, 10)}, last used ${lastUsed}\n`);
  return 0;
}

async function revoke(io: Io, which: string): Promise<number> {
  const request = JSON.stringify(which === 'all' ? { all: true } : { id: which });
  const response = await askTray({ method: 'POST', path: '/api/v1/devices/revoke', body: request }, io.env);
  const body = response.is === 'not-running' ? null : unwrapResponse(response, io);
  if (response.is !== 'not-running' && body === null) return 1;
  const revoked =
    body === null
      ? openStored(io).revoke(which === 'all' ? 'all' : [which])
      : (JSON.parse(body) as { revoked: string[] }).revoked;
  if (which !== 'all' && revoked.length === 0) {
    io.err(`hivebar devices: there is no device ${displayName(which)}: see hivebar devices\n`);
    return 1;
  }
  io.out(`${revoked.length} ${revoked.length === 1 ? 'device' : 'devices'} revoked\n`);
  return 0;
}

/** The devices in their file, which nobody else writes while Hivebar is not running. */
function openStored(io: Io): Devices {
  const log = createStderrLog(io, 'hivebar devices');
  return openDevices(findOwnDirs({ ...io.env }).state, {
    ...{ disk: createRealDisk(log), random: realRandom, clock: realClock, log },
  });
}

function listStored(devices: Devices): ListedDevice[] {
  return devices.list().map(({ id, name, createdAt, lastUsedAt }) => ({
    ...{ id, name, created: formatIso(createdAt), lastUsed: formatIso(lastUsedAt).slice(0, 10) },
  }));
}
