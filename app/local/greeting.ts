import type { LocalHive } from '../../core/inbox/index.ts';

const NAME = 'hello';

/** The one mail of a first run with nothing else to watch: it shows how the program looks with mail, and what to do next. */
export async function greet(hive: LocalHive, eventsFile: (persona: string) => string): Promise<void> {
  if (hive.personas().length > 0) return;
  await hive.send({
    to: NAME,
    from: 'hivebar',
    urgent: false,
    content: `Welcome. Send mail: hivebar send --to ada --from me "hi". An agent follows its file: tail -F ${eventsFile(NAME)}. Read this: hivebar inbox read ${NAME}. More personas: hivebar demo`,
  });
}
