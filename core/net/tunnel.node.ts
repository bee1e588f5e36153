import type { ClientRequest } from 'node:http';
import type { LookupFunction, Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { Fault, type Scope } from '../model/index.ts';
import { startTimer } from '../ports/index.ts';
import { toNetworkFault } from './failure.ts';
import { formatUrl } from './format-url.ts';
import type { HttpTarget } from './policy.ts';

export interface TunnelOptions {
  /** Where requests go in the end; plain http too, so that no proxy is handed a request, and a token with it. */
  readonly target: HttpTarget;
  readonly proxy: HttpTarget;
  readonly scope: Scope;
  readonly userAgent: string;
  /** Of the proxy's own name. */
  readonly lookup: LookupFunction;
  /** Makes TLS of a tunnel that is open. */
  readonly secure: buildConnector.connector;
  /** For the whole of connection and CONNECT. */
  readonly timeoutMs: number;
  readonly attemptMs: number;
}

/** Connections through a proxy: a connector for undici, and a way to drop those that are being made. */
export interface Tunnels {
  readonly connect: buildConnector.connector;
  drop(): void;
}

/**
 * Opens each connection by CONNECT. undici's own ProxyAgent is not used: it hands plain http to the proxy as a request,
 * token and all, puts no limit on the answer to CONNECT, and loads two more dispatchers and a SOCKS client.
 */
export function createTunnels(options: TunnelOptions): Tunnels {
  const { target, proxy, scope, secure, timeoutMs } = options;
  const { url } = target;
  const authority = `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
  const through = `the proxy ${formatUrl(proxy.url)}`;
  const underWay = new Set<ClientRequest>();

  function open(done: (socket: Socket | Fault) => void): void {
    // Loaded by who has a proxy: most have none.
    const { request: ask } = process.getBuiltinModule(proxy.url.protocol === 'https:' ? 'node:https' : 'node:http');
    const requestOptions = {
      method: 'CONNECT',
      host: proxy.url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: proxy.url.port || (proxy.url.protocol === 'https:' ? 443 : 80),
      path: authority,
      headers: { host: authority, 'user-agent': options.userAgent },
      agent: false, // the global one reads proxy variables when it is told to
      lookup: options.lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: options.attemptMs,
    } as const;
    const request = ask(requestOptions);
    const late = startTimer(timeoutMs, () => {
      request.destroy(new Fault('timeout', `${through} opened no way to ${authority} within ${timeoutMs} ms`, scope));
    });
    const finish = (socket: Socket | Fault): void => {
      if (!underWay.delete(request)) return;
      late[Symbol.dispose]();
      done(socket);
    };
    underWay.add(request);
    request.on('error', (error) => finish(toProxyFault(error)));
    request.on('connect', ({ statusCode = 0 }, socket, head) => {
      const isOpen = statusCode >= 200 && statusCode < 300;
      if (!isOpen || !underWay.has(request))
        socket.on('error', () => {}).destroy(); // nobody waits for it
      else if (head.length > 0) socket.unshift(head);
      finish(isOpen ? (socket as Socket) : toRefusedFault(statusCode));
    });
    request.end();
  }

  function toProxyFault(error: Error): Fault {
    if (error instanceof Fault) return error;
    const { code, message } = toNetworkFault(error, { url: proxy.url, scope });
    return new Fault(code, `proxy ${message}`, scope, { cause: error });
  }

  function toRefusedFault(status: number): Fault {
    const why = status === 407 ? ' (it asks for a password, which cannot be given here)' : '';
    return new Fault('status', `${through} answered ${status}${why} to CONNECT ${authority}`, scope);
  }

  return {
    connect(connectOptions, callback) {
      open((socket) => {
        if (socket instanceof Fault) callback(socket, null);
        else if (connectOptions.protocol === 'https:') secure({ ...connectOptions, httpSocket: socket }, callback);
        else callback(null, socket);
      });
    },
    drop() {
      for (const request of underWay) request.destroy(new Fault('broken', `${through}: the client was closed`, scope));
    },
  };
}
