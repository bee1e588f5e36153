import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ProjectSheet, SheetPage } from '../../core/sources/brainclaw/index.ts';
import { REVALIDATE } from './api-routes.ts';
import { matchesEtag } from './current.ts';
import { HttpRefusal } from './problem.ts';
import type { ProjectsWire, ProjectWire } from './wire-brainclaw.ts';

/** A project that is watched, as it is now. */
export interface WatchedProject {
  /** Of its source. */
  readonly id: string;
  /** The persona that stands for its board. */
  readonly board: string;
  readonly label: string;
  /** The folder that holds the store. */
  readonly root: string;
  /** Null: it was not read yet. */
  readonly sheet: ProjectSheet | null;
  /** The same with one page of one section alone. */
  sheetAt(page: SheetPage): ProjectSheet | null;
  /** Differs when the sheet differs. */
  readonly rev: string | null;
  /** What is wrong in its store, a line each. */
  readonly defects: readonly string[];
  /** What a person asks of it is done. */
  readonly acts: boolean;
}

/** The projects that are watched, by id. */
export type ProjectsApi = () => readonly WatchedProject[];

/** The sheets of projects: their numbers for everybody, their text for who has the token (Decision 4). */
export function registerProjectRoutes(app: FastifyInstance, projects: ProjectsApi): void {
  app.get('/api/brainclaw', async (request, reply) =>
    answerWithEtag(request, reply, { projects: projects().map(toProjectNumbers) }),
  );
  app.get<{ Params: { id: string }; Querystring: PageQuery }>('/api/brainclaw/:id', async (request, reply) => {
    const { id } = request.params;
    const watchedProject = projects().find((project) => project.id === id);
    if (watchedProject === undefined) {
      const message = `no project ${JSON.stringify(id.slice(0, 200))} is watched`;
      throw new HttpRefusal(404, 'no-project', message, 'see /api/brainclaw for those that are');
    }
    const page = parsePage(request.query);
    const project =
      page === null
        ? toProjectWire(watchedProject)
        : toProjectWire({ ...watchedProject, sheet: watchedProject.sheetAt(page) });
    return answerWithEtag(request, reply, request.right === 'owner' ? project : removeText(project));
  });
}

type PageQuery = Readonly<Record<string, unknown>>;

/** Null: the first rows of all sections. */
function parsePage({ section, from }: PageQuery): SheetPage | null {
  if (section === undefined && from === undefined) return null;
  if (typeof section !== 'string')
    throw new HttpRefusal(400, 'usage', 'from needs a section', 'say ?section=attention&from=100');
  const text = from ?? '0';
  if (typeof text !== 'string' || !/^\d{1,9}$/.test(text)) {
    const message = `from must be a whole number, not ${JSON.stringify(text).slice(0, 80)}`;
    throw new HttpRefusal(400, 'usage', message, 'say ?section=attention&from=100');
  }
  return { section, from: Number(text) };
}

/** Two answers with one tag are the same to a byte, so who has the token and who has not never share one. */
function answerWithEtag(request: FastifyRequest, reply: FastifyReply, value: ProjectsWire | ProjectWire): FastifyReply {
  const body = JSON.stringify(value);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  void reply.header('ETag', etag).header('Cache-Control', REVALIDATE).header('Vary', 'Authorization');
  if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(body);
}

const NOTHING_READ: ProjectSheet = {
  ...{ remarks: [], seq: null, ts: null, attention: null, system: null, agents: [], sections: [], seeded: [] },
  counts: {
    ...{ plans: null, claims: null, assignments: null, runs: null },
    ...{ actions: null, failedRuns: null, agents: null, sessions: null },
  },
};

function toProjectNumbers({ id, board, label, rev, sheet, defects }: WatchedProject): ProjectsWire['projects'][number] {
  const { sections: _, ...numbers } = toPlainSheet(sheet ?? NOTHING_READ);
  return { ...{ id, board, label, rev }, ...numbers, defects: defects.length };
}

function toProjectWire({ id, board, label, root, rev, sheet, defects, acts }: WatchedProject): ProjectWire {
  return {
    project: { id, board, label, root },
    ...{ rev, sheet: sheet === null ? null : toPlainSheet(sheet), defects: [...defects], acts },
  };
}

/** A row is text: its title, its ids, who it is of. What is left is how many there are. */
function removeText({ project, sheet, ...rest }: ProjectWire): ProjectWire {
  return {
    ...rest,
    project: { ...project, root: null },
    sheet: sheet && {
      ...sheet,
      sections: sheet.sections.map((section) => ({ ...section, rows: [], rest: section.total })),
    },
    defects: null,
  };
}

type SheetOnWire = NonNullable<ProjectWire['sheet']>;

/** The sheet is plain values; its lists are only read here. */
const toPlainSheet = (sheet: ProjectSheet): SheetOnWire => sheet as unknown as SheetOnWire;
