import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer } from 'node:tls';

// Made for these tests and known to everybody: proves nothing, protects nothing. Valid for hive.test until 2124.
export const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgIXjvdSjUvukqB2m6
Q0Y5JJKouFytKBGOJvs6YaA5mPOhRANCAATVVKFCXnsxPLORROBbMEHx9yaaJbiH
6f6kNA5i+Si4hFXbPM+hiPoguMFDCAw4+rAxMP5R++emzT+Tu7f2Dt+H
-----END PRIVATE KEY-----`;
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBYjCCAQegAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAloaXZlLnRl
c3QwIBcNMjQwMTAxMDAwMDAwWhgPMjEyNDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWhpdmUudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNVUoUJeezE8s5FE
4FswQfH3JpoluIfp/qQ0DmL5KLiEVds8z6GI+iC4wUMIDDj6sDEw/lH756bNP5O7
t/YO34ejSDBGMBQGA1UdEQQNMAuCCWhpdmUudGVzdDAPBgNVHRMBAf8EBTADAQH/
MB0GA1UdDgQWBBSO0KTHQRN6qVAfNtqzu2m96/9xbzAKBggqhkjOPQQDAgNJADBG
AiEAinb6yv2BGDFNCaL9ag1O/uzmIeYLOnVGzYcA2l9Jv+4CIQCpZL/jadTsuhX2
KwV/XHMk5nwHTyg1SCAl8Z69OlUeqg==
-----END CERTIFICATE-----`;

export interface TlsFront extends AsyncDisposable {
  readonly port: number;
}

/** TLS for `hive.test` in front of a hive's port, as a hosted one has. */
export async function tlsFront(port: number): Promise<TlsFront> {
  const sockets = new Set<Socket>();
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (socket) => {
    const far = connect({ host: '127.0.0.1', port });
    socket.pipe(far).pipe(socket);
    far.on('error', () => socket.destroy());
    socket.on('error', () => far.destroy());
    socket.on('close', () => far.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {}); // a test breaks it
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
