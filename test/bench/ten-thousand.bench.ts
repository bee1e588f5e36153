import { setTimeout as sleep } from 'node:timers/promises';
import { launchBrowser, measureFirstContent } from './browser.ts';
import { type Floor, goals, quantile, type Sample } from './harness.ts';
import { listNames, localHome, readMemory, startTray, untilArmed } from './rig.ts';
import { measureStormFloor, measureStorms } from './storm.ts';

const COUNT = 10_000;
/** The program gives back what a storm took once it rests. */
const REST_MS = 5000;

export const benches = [
  goals(
    [
      { name: '10,000 personas on one local hive: storm, last line durable', unit: 'ms', bar: 600 },
      { name: '10,000 personas on one local hive: status JSON, p50', unit: 'ms', bar: 15 },
      { name: '10,000 personas on one local hive: page list, first content', unit: 'ms', bar: 300 },
      { name: '10,000 personas on one local hive: resident, at rest after the storms', unit: 'MiB', bar: 250 },
    ],
    measureAll,
    { isSlow: true },
  ),
];

async function measureAll(): Promise<readonly Sample[]> {
  const names = listNames(COUNT);
  const home = localHome(names);
  await using tray = await startTray(home);
  await untilArmed(home, names, 120_000);
  const storms = await measureStorms(home, tray, names, 5);
  const most = readMemory(tray.pid).rss;
  await sleep(REST_MS);
  const { rss, own } = readMemory(tray.pid);
  const url = `http://127.0.0.1:${tray.port}/`;
  const { value, floor, bytes } = await measureStatus(`${url}status.json`);
  await using browser = await launchBrowser();
  return [
    { value: quantile(storms, 0.5), floor: measureStormFloor(names) },
    { value, floor, note: `${(bytes / 1024 / 1024).toFixed(1)} MiB of text` },
    await measureFirstContent(browser, url),
    { value: rss, note: `private ${own.toFixed(0)} MiB, ${most.toFixed(0)} MiB at the last line` },
  ];
}

/** A whole answer that is not yet known to its reader, and the time that its bytes alone would take as text. */
async function measureStatus(url: string): Promise<{ value: number; floor: Floor; bytes: number }> {
  const took: number[] = [];
  const parsed: number[] = [];
  let text = '';
  for (let i = 0; i < 40; i += 1) {
    const from = performance.now();
    text = await (await fetch(url)).text();
    const got = performance.now();
    JSON.stringify(JSON.parse(text));
    if (i >= 10) {
      took.push(got - from);
      parsed.push(performance.now() - got);
    }
  }
  const floor: Floor = { value: quantile(parsed, 0.5), unit: 'ms', what: 'to parse it and write it again' };
  return { value: quantile(took, 0.5), floor, bytes: Buffer.byteLength(text) };
}
