import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Value } from 'typebox/value';
import { EXPECTED } from '../../test/kit/brainclaw-store.ts';
import { type LabProject, labProject } from '../../test/kit/lab-project.ts';
import { type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';
import { ProjectsWire, ProjectWire } from './wire-projects.ts';

const OWNER = { Authorization: `Bearer ${TOKEN}` };
let projects: readonly LabProject[];
let rig: StatusRig;
before(async () => {
  projects = [labProject()];
  rig = await statusRig({ projects: () => projects });
});
after(() => rig[Symbol.asyncDispose]());

const ask = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${rig.port}${path}`, { headers });
const whole = async (headers: Record<string, string> = {}): Promise<ProjectWire> =>
  (await (await ask('/api/brainclaw/bc-lab', headers)).json()) as ProjectWire;

describe('GET /api/brainclaw', () => {
  test('has the numbers of every project for everybody, and no text', async () => {
    const text = await (await ask('/api/brainclaw')).text();
    const { projects: all } = JSON.parse(text) as ProjectsWire;
    assert.ok(
      Value.Check(ProjectsWire, JSON.parse(text)),
      JSON.stringify(Value.Errors(ProjectsWire, JSON.parse(text))),
    );
    const { attention_required, counts } = EXPECTED.observer;
    assert.deepEqual(
      all.map(({ id, board, label, seq, attention, defects }) => ({ id, board, label, seq, attention, defects })),
      [{ ...{ id: 'bc-lab', board: 'bc-lab', label: 'journal', seq: 359 }, attention: attention_required, defects: 1 }],
    );
    assert.deepEqual(all[0]?.counts, { ...counts, agents: null, sessions: null });
    assert.doesNotMatch(text, /Approve|candidate cnd|handoff 0|do the thing|pln_|hnd_/);
  });

  test('of a project that was not read yet nothing is known, and nothing is 0', async () => {
    const before = projects;
    projects = [{ ...labProject(), sheet: null, rev: null, defects: [] }];
    const body = (await (await ask('/api/brainclaw')).json()) as ProjectsWire;
    const project = await whole();
    projects = before;
    assert.ok(Value.Check(ProjectsWire, body));
    assert.deepEqual([...new Set(Object.values(body.projects[0]?.counts ?? {}))], [null]);
    assert.deepEqual([body.projects[0]?.attention, project.sheet, project.rev], [null, null, null]);
  });
});

describe('GET /api/brainclaw/ID', () => {
  test('is the whole sheet for who has the token', async () => {
    const answer = await whole(OWNER);
    assert.ok(Value.Check(ProjectWire, answer), JSON.stringify(Value.Errors(ProjectWire, answer)));
    assert.deepEqual(answer.sheet, projects[0]?.sheet);
    assert.deepEqual([answer.project.root, answer.defects, answer.acts], [projects[0]?.root, ['x'], false]);
  });

  test('holds no text of the store without it: no titles, no senders, no ids', async () => {
    const answer = await whole();
    assert.ok(Value.Check(ProjectWire, answer));
    assert.doesNotMatch(JSON.stringify(answer), /Approve|cnd_|pln_|hnd_|act_|the thing|please/);
    assert.deepEqual([answer.project.root, answer.defects], [null, null]);
    assert.deepEqual(
      answer.sheet?.sections.map(({ id, total, rows, rest }) => [id, total, rows.length, rest]),
      projects[0]?.sheet?.sections.map(({ id, total }) => [id, total, 0, total]),
    );
  });

  test('D2 a section is read page by page, and a query that fits none is refused', async () => {
    const read = async (query: string) =>
      (await (await ask(`/api/brainclaw/bc-lab?${query}`, OWNER)).json()) as ProjectWire;
    const all = (await whole(OWNER)).sheet?.sections.find(({ id }) => id === 'attention');
    const page = (await read('section=attention&from=15')).sheet?.sections ?? [];
    assert.deepEqual(page, [{ id: 'attention', total: 20, rows: all?.rows.slice(15), rest: 0 }]);
    assert.deepEqual((await read('section=attention&from=99')).sheet?.sections[0], { ...page[0], rows: [], rest: 0 });
    assert.deepEqual((await read('section=nothing')).sheet?.sections, []);
    for (const query of ['from=3', 'section=attention&from=-1', 'section=attention&from=x'])
      assert.equal((await ask(`/api/brainclaw/bc-lab?${query}`, OWNER)).status, 400, query);
  });

  test('is answered with 304 while nothing differs, and never across the token', async () => {
    const first = await ask('/api/brainclaw/bc-lab', OWNER);
    const tag = { 'If-None-Match': first.headers.get('etag') ?? '' };
    assert.equal((await ask('/api/brainclaw/bc-lab', { ...OWNER, ...tag })).status, 304);
    assert.equal((await ask('/api/brainclaw/bc-lab', tag)).status, 200);
    const before = projects;
    projects = [{ ...labProject(), rev: 'r2' }];
    assert.equal((await ask('/api/brainclaw/bc-lab', { ...OWNER, ...tag })).status, 200);
    projects = before;
  });

  test('of a project that nobody watches is 404, with what to do', async () => {
    const answer = await ask('/api/brainclaw/bc-none');
    assert.equal(answer.status, 404);
    assert.match(await answer.text(), /"code":"no-project","message":"no project \\"bc-none\\" is watched"/);
  });
});
