import { writeSync } from 'node:fs';
import { getTerminalSize, isTerminal, isTypedInput } from './process.node.ts';

/** The alternate screen, without a cursor and without lines that go on in the next one. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';

const STDOUT = 1;
/** What a terminal that does not tell its size is taken for. */
const USUAL = { columns: 80, rows: 24 };

/** A terminal as a full-screen view has it. Disposed, it is as it was before. */
export interface Screen extends Disposable {
  size(): { readonly columns: number; readonly rows: number };
  draw(lines: readonly string[]): void;
}

export const hasScreen = (): boolean => isTerminal() && isTypedInput();

interface ScreenEvents {
  onKey(key: string): void;
  onResize(): void;
  /** What `onKey` or `onResize` threw. */
  onError(error: unknown): void;
}

/** Takes the terminal. It gives it back when it is disposed, and when the process ends in another way. */
export function openScreen({ onKey, onResize, onError }: ScreenEvents): Screen {
  const { stdin, stdout } = process;
  let shown = '';
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      onError(error);
    }
  };
  const readKeys = (text: string): void => attempt(() => parseKeys(text).forEach(onKey));
  const resize = (): void => {
    shown = '';
    attempt(onResize);
  };
  const leave = (): void => {
    process.off('exit', leave);
    stdin.off('data', readKeys).pause();
    stdout.off('resize', resize);
    try {
      stdin.setRawMode(false);
      writeSync(STDOUT, LEAVE);
    } catch {
      // The terminal is gone, and with it what would be given back.
    }
  };
  process.on('exit', leave);
  stdin.setRawMode(true);
  stdin.setEncoding('utf8').on('data', readKeys);
  stdout.on('resize', resize);
  stdout.write(ENTER);
  return {
    size: () => getTerminalSize() ?? USUAL,
    draw(lines) {
      // What is cleared behind a line that ends in the last column would be its last character, so it is cleared before.
      const text = `${HOME}${lines.map((line) => `${CLEAR_LINE}${line}`).join('\r\n')}`;
      if (text === shown) return;
      shown = text;
      stdout.write(text);
    },
    [Symbol.dispose]: leave,
  };
}

const NAMES: Readonly<Record<string, string>> = {
  ...{ '\r': 'enter', '\n': 'enter', '\u001b': 'escape', '\u007f': 'backspace', '\b': 'backspace', '\u0003': 'ctrl-c' },
  ...{
    '[A': 'up',
    '[B': 'down',
    '[5~': 'pageup',
    '[6~': 'pagedown',
    '[H': 'home',
    '[F': 'end',
    '[1~': 'home',
    '[4~': 'end',
  },
};

const ESCAPE = '\u001b';
/** A sequence of a terminal, or one character. */
const KEY = new RegExp(`${ESCAPE}[[O][0-9;?]*[A-Za-z~]|[\\s\\S]`, 'gu');

/** Splits what a terminal sends into keys: letters as they are, the others by name. Unknown sequences are left out. */
export function parseKeys(text: string): readonly string[] {
  const parts = text.match(KEY) ?? [];
  return parts.flatMap((part) => {
    const name = NAMES[part.length > 1 ? part.slice(1).replace(/^O/, '[') : part];
    if (name !== undefined) return [name];
    return /^[^\p{Cc}\p{Cs}]+$/u.test(part) ? [part] : [];
  });
}
