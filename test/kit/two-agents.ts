import { existsSync, readFileSync } from 'node:fs';
import { type Agent, agent } from './agent.ts';
import { relayRig } from './relay-rig.ts';
import { type TrayHome, type TrayProcess, trayHome } from './tray-process.ts';

/** Two agents, ada by Claude Code and bo by Codex, and what is between them. */
export interface Stage extends AsyncDisposable {
  readonly ada: Agent;
  readonly bo: Agent;
  /** One store: what one pushes the other has, whatever runs. */
  readonly isOneStore: boolean;
  /** What may break between them, and comes back as it was. */
  readonly breaks: readonly Break[];
}

export interface Break {
  readonly what: string;
  /** SIGKILL. */
  kill(): Promise<void>;
  restart(): Promise<void>;
}

const LOCAL = { primary: { is: 'local' } };
const BARE = ['--no-tray', '--no-notifications'];

/** A tray process that can be killed and started again. */
async function startTray(home: TrayHome) {
  let tray: TrayProcess = await home.start(BARE);
  return {
    get now(): TrayProcess {
      return tray;
    },
    kill: () => tray.kill(),
    async restart() {
      await tray[Symbol.asyncDispose]();
      tray = await home.start(BARE);
    },
    [Symbol.asyncDispose]: () => tray[Symbol.asyncDispose](),
  };
}

export async function oneMachine(): Promise<Stage> {
  await using made = new AsyncDisposableStack();
  const home = made.use(trayHome(LOCAL));
  const tray = made.use(await startTray(home));
  return {
    ada: agent(home, 'ada', 'claude'),
    bo: agent(home, 'bo', 'codex'),
    isOneStore: true,
    breaks: [{ what: 'the tray process', kill: tray.kill, restart: tray.restart }],
    ...openStored(made),
  };
}

/** A home and a tray process each, over a real nats-server. */
export async function twoMachines(): Promise<Stage> {
  await using made = new AsyncDisposableStack();
  const rig = made.use(await relayRig());
  // Nobody says who lives where: what one pushes to the other makes each known to both.
  const settings = { ...LOCAL, nats: { url: rig.server.url, tokenFile: rig.tokenFile } };
  const firstHome = made.use(trayHome(settings));
  const secondHome = made.use(trayHome(settings));
  const first = made.use(await startTray(firstHome));
  const second = made.use(await startTray(secondHome));
  const isUp = async (): Promise<void> => {
    for (const { now } of [first, second]) {
      await now.until(
        'the server is reached',
        ({ hives }) => hives.some(({ source, state }) => source === 'nats' && state === 'UP'),
        60_000,
      );
    }
  };
  const andUp = (restart: () => Promise<void>) => async () => {
    await restart();
    await isUp();
  };
  await isUp();
  return {
    ada: agent(firstHome, 'ada', 'claude'),
    bo: agent(secondHome, 'bo', 'codex'),
    isOneStore: false,
    breaks: [
      { what: 'nats-server', kill: () => rig.server.kill(), restart: andUp(() => rig.restart()) },
      { what: 'the tray process of bo', kill: second.kill, restart: andUp(second.restart) },
    ],
    ...openStored(made),
  };
}

/** What was made lives on, until the stage is left. */
function openStored(made: AsyncDisposableStack): AsyncDisposable {
  const held = made.move();
  return { [Symbol.asyncDispose]: () => held.disposeAsync() };
}

/** Who made the mark of a gate of an agent; null: it has none. */
export function readMark({ home, persona }: Agent, gate: string): unknown {
  const path = home.at('gates', persona, `${gate}.json`);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { satisfied_by: unknown }).satisfied_by : null;
}
