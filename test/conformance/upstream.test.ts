import { DAEMON_PERSONAS, installPersonas } from '../kit/daemon-personas.ts';
import { trayHome } from '../kit/tray-process.ts';
import { referenceUpstream } from '../kit/upstream/index.ts';
import { upstreamSuite } from '../kit/upstream-suite.ts';

upstreamSuite('the reference upstream of the tests', async () => {
  const upstream = await referenceUpstream();
  const [ada, bo] = DAEMON_PERSONAS.map(({ tenant, identity }) => {
    const { observe, act, signals } = upstream.persona(tenant, identity);
    return { tenant, identity, address: identity, observe, act, signals };
  });
  if (ada === undefined || bo === undefined) throw new Error('two personas are needed');
  return {
    url: upstream.url,
    ada,
    bo,
    arrive: async (persona, count) => void [ada, bo].find((candidate) => candidate === persona)?.signals(count),
    [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
  };
});

upstreamSuite('the tray process', async () => {
  const home = trayHome();
  const [ada, bo] = installPersonas(home.dir);
  if (ada === undefined || bo === undefined) throw new Error('two personas are needed');
  const tray = await home.start();
  return {
    url: tray.url,
    ada,
    bo,
    arrive: async ({ address }, count) => {
      for (let i = 0; i < count; i += 1) {
        const { code, stderr } = await home.run(['inbox', 'push', '--to', address, `signal ${i}`]);
        if (code !== 0) throw new Error(stderr);
      }
    },
    [Symbol.asyncDispose]: async () => {
      await tray[Symbol.asyncDispose]();
      home[Symbol.dispose]();
    },
  };
});
