// A stand-in for an agent program in a terminal: it draws what it is told to and takes keys as Claude Code does.
//   node stand-in-composer.mjs SOCKET HOME SESSION
// Told on the socket, a JSON object a line: {n, view, text, at, status, next}. `view`: composer, menu, program; `next`: what
// it becomes when something is typed. Each thing it did goes
// back as a line: {sent: TEXT}, {approved: true}; and {drawn: N} once a state is written. The last line of the screen names the state that it shows.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

const [socketPath, home, session] = process.argv.slice(2);
const { columns = 80 } = process.stdout;
/** A paste in brackets, or one key. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what a terminal sends
const KEYS = /\u001b\[200~([\s\S]*?)\u001b\[201~|([\s\S])/g;
const RULE = '─'.repeat(columns);
let state = { n: 0, view: 'composer', text: '', at: 0, status: 'idle' };

const control = connect(socketPath);
const tell = (fields) => control.write(`${JSON.stringify(fields)}\n`);
let rest = '';
control.setEncoding('utf8').on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) {
    state = JSON.parse(line);
    saySession();
    draw();
  }
});
control.on('close', () => process.exit(0));

function saySession() {
  const fields = { pid: process.pid, sessionId: session, kind: 'interactive', status: state.status };
  if (state.status === 'waiting') fields.waitingFor = 'permission prompt';
  mkdirSync(join(home, 'sessions'), { recursive: true });
  const path = join(home, 'sessions', `${process.pid}.json`);
  writeFileSync(`${path}.tmp`, JSON.stringify(fields));
  renameSync(`${path}.tmp`, path);
}

function draw() {
  const { n, view, text, at } = state;
  const [top, cursor] = {
    composer: () => [
      ['● fine', '', RULE, `❯\u00a0${text}`, RULE],
      [3, 2 + at],
    ],
    menu: () => [
      ['● fine', '', RULE, ' Do you want to create SUB2.md?', ' ❯ 1. Yes', '   2. No', RULE],
      [4, 1],
    ],
    program: () => [
      ['~', '~', text, '~'],
      [2, at],
    ],
  }[view]();
  const screen = [...top, `state ${n}`].join('\r\n');
  process.stdout.write(`\x1b[2J\x1b[H${screen}\x1b[${cursor[0] + 1};${cursor[1] + 1}H`, () => tell({ drawn: n }));
}

process.stdout.write('\x1b[?1049h\x1b[?2004h');
process.stdin.setRawMode(true);
process.stdin.setEncoding('utf8').on('data', (keys) => {
  for (const [, paste, key] of keys.matchAll(KEYS)) take(paste, key);
  draw();
});

function take(paste, key) {
  if (state.view === 'menu') {
    if (paste === undefined && (key === '\r' || key === '1')) tell({ approved: true });
    return;
  }
  if (paste === undefined && key === '\r') {
    tell({ sent: state.text });
    state = { ...state, text: '', at: 0 };
  } else if (key === '\x7f') state = { ...state, text: state.text.slice(0, -1), at: state.at - 1 };
  else {
    const typed = paste ?? key;
    if (state.next !== undefined) {
      // What happens to it in the moment in which the words come.
      state = { ...state, ...state.next, next: undefined };
      saySession();
    }
    if (state.view !== 'composer') return;
    state = {
      ...state,
      text: state.text.slice(0, state.at) + typed + state.text.slice(state.at),
      at: state.at + typed.length,
    };
  }
}

saySession();
draw();
