/** Writes what of docs/contract derives from a schema, and the tables of the guide of waking: `npm run contract`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PERSONA_REPORT } from '../core/board/index.ts';
import { formatReference, REFERENCE_FILE } from './command-reference.ts';
import { updateWaking, WAKING_FILE } from './waking.ts';

export const CONTRACT_FILE = join(import.meta.dirname, '..', 'docs', 'contract', 'status-json.md');

const HEAD = '| reported value of a persona | meaning |\n|---|---|\n';

/** Returns the text with the table of reported values as the schema has it. */
export function updateContract(text: string): string {
  const start = text.indexOf(HEAD);
  if (start < 0) throw new Error(`docs/contract/status-json.md has no table that begins with ${HEAD.split('\n')[0]}`);
  const rest = text.slice(start).replace(/^(\|.*\n)+/, '');
  const rows = Object.entries(PERSONA_REPORT).map(([key, schema]) => {
    const { description = '' } = schema as { readonly description?: string };
    return `| \`${key}\` | ${description} |
`;
  });
  return text.slice(0, start) + HEAD + rows.join('') + rest;
}

if (import.meta.main) {
  writeFileSync(CONTRACT_FILE, updateContract(readFileSync(CONTRACT_FILE, 'utf8')));
  writeFileSync(REFERENCE_FILE, await formatReference());
  writeFileSync(WAKING_FILE, updateWaking(readFileSync(WAKING_FILE, 'utf8')));
}
