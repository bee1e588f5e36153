// Loaded before a program with NODE_OPTIONS=--import: its time of day is off by SHIFT_MS; with each SIGUSR2 by JUMP_MS more.
const { now } = Date;
let shift = Number(process.env.SHIFT_MS ?? 0);

Date.now = () => now() + shift;
if (process.env.JUMP_MS)
  process.on('SIGUSR2', () => {
    shift += Number(process.env.JUMP_MS);
  });
