import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { formatIso } from '../../core/model/index.ts';
import type { Devices } from '../host/devices.ts';
import { answerJson, HttpRefusal, requireToken } from './answer.ts';
import { parseBody, REVOKE_BODY } from './queries.ts';
import type { DeviceWire } from './wire.ts';

/** The answers to devices that are not finished: streams, held requests, and others for a moment. */
interface DeviceAnswers extends Disposable {
  add(device: string, response: ServerResponse): void;
  /** Lets an answer finish although its device is revoked: the one that says so. */
  spare(device: string, response: ServerResponse): void;
}

/** Cuts what is open for a device when it is revoked, so that its key gives nothing more from that moment on. */
export function followDevices(devices: Pick<Devices, 'onRevoked'>): DeviceAnswers {
  const open = new Map<string, Set<ServerResponse>>();
  const remove = (device: string, response: ServerResponse): void => {
    const answers = open.get(device);
    if (answers?.delete(response) && answers.size === 0) open.delete(device);
  };
  const revoked = devices.onRevoked((device) => {
    for (const response of open.get(device) ?? []) response.destroy();
    open.delete(device);
  });
  return {
    add(device, response) {
      const answers = open.get(device) ?? new Set();
      open.set(device, answers.add(response));
      response.once('close', () => remove(device, response));
    },
    spare: remove,
    [Symbol.dispose]: () => revoked[Symbol.dispose](),
  };
}

/** Lists the browsers that stay logged in, and revokes them. Keys are in no answer. */
export function registerDeviceRoutes(app: FastifyInstance, devices: Devices, answers: DeviceAnswers): void {
  app.get('/api/v1/devices', async (request, reply) => {
    requireToken(request);
    const list = devices.list().map(({ id, name, createdAt, lastUsedAt }): DeviceWire => {
      const times = { created: formatIso(createdAt), lastUsed: formatIso(lastUsedAt).slice(0, 10) };
      return { id, name, ...times, isThis: id === request.device };
    });
    return answerJson(reply, { devices: list });
  });
  app.post('/api/v1/devices/revoke', async (request, reply) => {
    requireToken(request);
    const { id, all } = parseBody(request.body ?? {}, REVOKE_BODY);
    if ((id === undefined) === (all === undefined))
      throw new HttpRefusal(400, 'usage', 'give one of id and all', 'send {"id": "ID"} or {"all": true}');
    if (request.device !== null) answers.spare(request.device, reply.raw);
    const revoked = devices.revoke(id === undefined ? 'all' : [id]).map((device) => device.id);
    if (id !== undefined && revoked.length === 0) {
      const next = 'see /api/v1/devices, or hivebar devices, for those that are';
      throw new HttpRefusal(404, 'no-device', `there is no device ${JSON.stringify(id)}`, next);
    }
    return answerJson(reply, { revoked });
  });
}
