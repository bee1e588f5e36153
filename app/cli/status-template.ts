import { toUsageFault } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import type { StatusPersona } from './status-json.ts';

/**
 * Formats one line of text with a value for each `{{KEY}}`: a text as it is, all else as JSON.
 * @throws Fault `usage` when the persona has no such key; the message lists the keys
 */
export function formatTemplate(template: string, persona: StatusPersona): string {
  return template.replace(/\{\{\s*(.*?)\s*\}\}/g, (_, key: string) => {
    if (!Object.hasOwn(persona, key)) {
      const known = Object.keys(persona).toSorted().join(', ');
      throw toUsageFault(new Error(`--format: there is no key ${key}: use ${known}`));
    }
    const value = persona[key as keyof StatusPersona];
    return displayName(typeof value === 'string' ? value : JSON.stringify(value));
  });
}
