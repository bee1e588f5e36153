import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BrainclawProbe, judgeBrainclaw } from './doctor.node.ts';

const output = (seen: BrainclawProbe): string => {
  const { is, seen: text } = judgeBrainclaw(seen);
  return `${is}: ${text}`;
};
const sound = { id: 'web', remarks: [], flaws: [], attention: 3 };

test('doctor says of the projects of brainclaw what asks for a person, and first what is wrong', () => {
  const createProbe = (more: Partial<Extract<BrainclawProbe, { is: 'projects' }>>): BrainclawProbe => ({
    ...{ is: 'projects', projects: [sound], missing: [], troubles: [] },
    ...more,
  });
  assert.match(output({ is: 'off' }), /switched off/);
  assert.equal(output(createProbe({ projects: [] })), 'ok: 0 projects');
  assert.equal(output(createProbe({})), 'ok: 1 project; asking for a person: web 3');
  assert.equal(
    output(createProbe({ projects: [sound, { ...sound, id: 'lab', remarks: ['journal-off'], flaws: ['x: is bad'] }] })),
    'warn: 2 projects; lab: journal-off, x: is bad',
  );
  assert.equal(
    output(createProbe({ missing: ['/w/none'], troubles: ['/w/shut: is shut'] })),
    'warn: 1 project; /w/none contains no project (and 1 more)',
  );
});
