import { createInterface } from 'node:readline/promises';
import { Fault } from '../../core/model/index.ts';

/** Asks the person at the terminal. Everything but yes is no. @throws Fault `usage` when nobody is there */
export async function askPerson(question: string): Promise<boolean> {
  const { stdin, stderr } = process;
  if (stdin.isTTY !== true)
    throw new Fault('usage', 'nobody is there to answer: --yes answers for you', { is: 'machine', key: 'ask' });
  const terminal = createInterface({ input: stdin, output: stderr });
  try {
    return /^y(?:es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}
