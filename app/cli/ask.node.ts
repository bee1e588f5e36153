import { createInterface } from 'node:readline/promises';
import { Fault } from '../../core/model/index.ts';

/**
 * Asks the person at the terminal. Everything but yes is no.
 * @param nobody what is said when nobody is there
 * @throws Fault `usage` when nobody is there
 */
export async function askPerson(
  question: string,
  nobody = 'nobody is there to answer: --yes answers for you',
): Promise<boolean> {
  const { stdin, stderr } = process;
  if (stdin.isTTY !== true) throw new Fault('usage', nobody, { is: 'machine', key: 'ask' });
  const terminal = createInterface({ input: stdin, output: stderr });
  try {
    return /^y(?:es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}
