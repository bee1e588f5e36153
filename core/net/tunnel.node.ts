import type { ClientRequest } from 'node:http';
import type { LookupFunction, Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { Fault, type Scope } from '../model/index.ts';
import { startTimer } from '../ports/index.ts';
import { formatUrl, toNetworkFault } from './exchange.ts';
import type { HttpTarget } from './policy.ts';

export interface TunnelOptions {
  /** The final target of the requests. Plain http is tunnelled too, so that no proxy gets a request and its token. */
  readonly target: HttpTarget;
  readonly proxy: HttpTarget;
  readonly scope: Scope;
  readonly userAgent: string;
  /** The look-up of the proxy's own name. */
  readonly lookup: LookupFunction;
  /** Starts TLS in an open tunnel. */
  readonly secure: buildConnector.connector;
  /** The limit for connecting and CONNECT together, in milliseconds. */
  readonly timeoutMs: number;
  readonly attemptMs: number;
}

/** Connections through a proxy: a connector for undici, and a way to drop connections that are being opened. */
export interface Tunnels {
  readonly connect: buildConnector.connector;
  drop(): void;
}

/**
 * Opens each connection with CONNECT. undici's own ProxyAgent is not used: it sends plain http to the proxy as a
 * request with the token, does not limit the answer to CONNECT, and loads two more dispatchers and a SOCKS client.
 */
export function createTunnels(options: TunnelOptions): Tunnels {
  const { target, proxy, scope, secure, timeoutMs } = options;
  const { url } = target;
  const authority = `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
  const through = `the proxy ${formatUrl(proxy.url)}`;
  const underWay = new Set<ClientRequest>();

  function open(done: (socket: Socket | Fault) => void): void {
    // Loaded only when there is a proxy, because most users have none.
    const { request: ask } = process.getBuiltinModule(proxy.url.protocol === 'https:' ? 'node:https' : 'node:http');
    const requestOptions = {
      method: 'CONNECT',
      host: proxy.url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: proxy.url.port || (proxy.url.protocol === 'https:' ? 443 : 80),
      path: authority,
      headers: { host: authority, 'user-agent': options.userAgent },
      agent: false, // the global agent may read proxy variables
      lookup: options.lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: options.attemptMs,
    } as const;
    const request = ask(requestOptions);
    const late = startTimer(timeoutMs, () => {
      request.destroy(
        new Fault('timeout', `${through} opened no tunnel to ${authority} within ${timeoutMs} ms`, scope),
      );
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
