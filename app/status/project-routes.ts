import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Sheet, SheetPage } from '../../core/sources/brainclaw/index.ts';
import { REVALIDATE } from './api-routes.ts';
import { matches } from './current.ts';
import { Refusal } from './problem.ts';
import type { ProjectsWire, ProjectWire } from './wire-brainclaw.ts';

/** A project that is watched, as it is now. */
export interface ProjectSeen {
  /** Of its source. */
  readonly id: string;
  /** The persona that stands for its board. */
  readonly board: string;
  readonly label: string;
  /** The folder that holds the store. */
  readonly root: string;
  /** Null: it was not read yet. */
  readonly sheet: Sheet | null;
  /** The same with one page of one section alone. */
  sheetAt(page: SheetPage): Sheet | null;
  /** Differs when the sheet differs. */
  readonly rev: string | null;
  /** What is wrong in its store, a line each. */
  readonly defects: readonly string[];
  /** What a person asks of it is done. */
  readonly acts: boolean;
}

/** The projects that are watched, by id. */
export type ProjectsApi = () => readonly ProjectSeen[];

/** The sheets of projects: their numbers for everybody, their text for who has the token (Decision 4). */
export function projectRoutes(app: FastifyInstance, projects: ProjectsApi): void {
  app.get('/api/brainclaw', async (request, reply) => answer(request, reply, { projects: projects().map(numbersOf) }));
  app.get<{ Params: { id: string }; Querystring: Query }>('/api/brainclaw/:id', async (request, reply) => {
    const { id } = request.params;
    const found = projects().find((project) => project.id === id);
    if (found === undefined) {
      const what = `no project ${JSON.stringify(id.slice(0, 200))} is watched`;
      throw new Refusal(404, 'no-project', what, 'see /api/brainclaw for those that are');
    }
    const page = parsePage(request.query);
    const project = page === null ? wholeOf(found) : wholeOf({ ...found, sheet: found.sheetAt(page) });
    return answer(request, reply, request.right === 'owner' ? project : withoutText(project));
  });
}

type Query = Readonly<Record<string, unknown>>;

/** Null: the first rows of all sections. */
function parsePage({ section, from }: Query): SheetPage | null {
  if (section === undefined && from === undefined) return null;
  if (typeof section !== 'string')
    throw new Refusal(400, 'usage', 'from needs a section', 'say ?section=attention&from=100');
  const text = from ?? '0';
  if (typeof text !== 'string' || !/^\d{1,9}$/.test(text)) {
    const what = `from must be a whole number, not ${JSON.stringify(text).slice(0, 80)}`;
    throw new Refusal(400, 'usage', what, 'say ?section=attention&from=100');
  }
  return { section, from: Number(text) };
}

/** Two answers with one tag are the same to a byte, so who has the token and who has not never share one. */
function answer(request: FastifyRequest, reply: FastifyReply, value: ProjectsWire | ProjectWire): FastifyReply {
  const body = JSON.stringify(value);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  void reply.header('ETag', etag).header('Cache-Control', REVALIDATE).header('Vary', 'Authorization');
  if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(body);
}

const NOTHING_READ: Sheet = {
  ...{ remarks: [], seq: null, ts: null, attention: null, system: null, agents: [], sections: [], seeded: [] },
  counts: {
    ...{ plans: null, claims: null, assignments: null, runs: null },
    ...{ actions: null, failedRuns: null, agents: null, sessions: null },
  },
};

function numbersOf({ id, board, label, rev, sheet, defects }: ProjectSeen): ProjectsWire['projects'][number] {
  const { sections: _, ...numbers } = plain(sheet ?? NOTHING_READ);
  return { ...{ id, board, label, rev }, ...numbers, defects: defects.length };
}

function wholeOf({ id, board, label, root, rev, sheet, defects, acts }: ProjectSeen): ProjectWire {
  return {
    project: { id, board, label, root },
    ...{ rev, sheet: sheet === null ? null : plain(sheet), defects: [...defects], acts },
  };
}

/** A row is text: its title, its ids, who it is of. What is left is how many there are. */
function withoutText({ project, sheet, ...rest }: ProjectWire): ProjectWire {
  return {
    ...rest,
    project: { ...project, root: null },
    sheet: sheet && { ...sheet, sections: sheet.sections.map((one) => ({ ...one, rows: [], rest: one.total })) },
    defects: null,
  };
}

type SheetOnWire = NonNullable<ProjectWire['sheet']>;

/** The sheet is plain values; its lists are only read here. */
const plain = (sheet: Sheet): SheetOnWire => sheet as unknown as SheetOnWire;
