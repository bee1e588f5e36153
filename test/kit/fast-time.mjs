// Loaded before a program with NODE_OPTIONS=--import: its time runs FASTER times as fast, for timers and clocks alike. What the
// system times by itself, such as a connection, is as slow as ever. With each SIGUSR2 its time of day jumps by JUMP_MS.
const faster = Number(process.env.FASTER);
const {
  setTimeout: later,
  setInterval: often,
  Date: { now },
} = globalThis;
const hrtime = process.hrtime.bigint;
const born = { at: now(), mono: hrtime() };

globalThis.setTimeout = (run, ms = 0, ...args) => later(run, ms / faster, ...args);
globalThis.setInterval = (run, ms = 0, ...args) => often(run, ms / faster, ...args);
Date.now = () => born.at + (now() - born.at) * faster;
process.hrtime.bigint = () => born.mono + BigInt(Math.round(Number(hrtime() - born.mono) * faster));

if (process.env.JUMP_MS)
  process.on('SIGUSR2', () => {
    born.at += Number(process.env.JUMP_MS);
  });
