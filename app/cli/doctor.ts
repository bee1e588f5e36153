import { defineCommand } from '../../core/command/index.ts';
import { displayJson } from '../../core/format/index.ts';
import { createContext, examine, formatReport, formatReportJson, listChecks, toExitCode } from './doctor/index.ts';
import { leaveSoon } from './process.node.ts';

export const command = defineCommand(
  {
    name: 'doctor',
    about: [
      'Checks everything that icon, notifications and mail depend on, and names the next step. It changes nothing, works',
      'whether Hivebar runs or not, and takes a few seconds.',
    ],
    flags: { json: { type: 'boolean', help: 'print JSON for a script (docs/contract/command-line.md)' } },
    notes: ['Exit code 0: no check fails, but there may be warnings; 1: a check fails.'],
    examples: [
      { run: 'hivebar doctor', does: 'why is there no icon, no banner, no mail?' },
      { run: "hivebar doctor --json | jq '.checks[] | select(.next)'", does: 'only checks with a next step' },
    ],
  },
  async ({ json }, io) => {
    const context = createContext(io);
    try {
      const results = await examine(listChecks(context), context);
      io.out(json ? `${displayJson(formatReportJson(results, context.version))}\n` : formatReport(results));
      return toExitCode(results);
    } finally {
      leaveSoon();
      await context[Symbol.asyncDispose]();
    }
  },
);
