import type { LocalHive } from '../../core/inbox/index.ts';

const NAME = 'hello';

/**
 * Sends the one mail of a first run that has nothing else to watch. It shows how the program looks with mail, and what to do
 * next.
 */
export async function greet(hive: LocalHive, eventsFile: (persona: string) => string): Promise<void> {
  if (hive.personas().length > 0) return;
  await hive.send({
    to: NAME,
    from: 'hivebar',
    urgent: false,
    content: `Welcome. Send mail: hivebar send --to ada --from me "hi". An agent follows its file: tail -F ${eventsFile(NAME)}. Read this: hivebar inbox read ${NAME}. More personas: hivebar demo`,
  });
}
