import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PROJECT_SOURCES, type SourceName } from '../../core/sources/derived.ts';
import type { WatchedProject } from '../../core/sources/module.ts';
import { HttpRefusal } from './answer.ts';
import { REVALIDATE } from './api-routes.ts';
import { matchesEtag } from './current-status.ts';
import type { ProjectsWire, ProjectWire } from './wire-projects.ts';

/** Lists the watched projects of a source, sorted by id. */
export type ProjectsApi = (source: SourceName) => readonly WatchedProject[];

/** Serves the sheets of projects: the numbers for everybody, the text for readers with the token (Decision 4). */
export function registerProjectRoutes(app: FastifyInstance, projects: ProjectsApi): void {
  for (const source of PROJECT_SOURCES) registerSourceRoutes(app, `/api/${source}`, () => projects(source));
}

function registerSourceRoutes(app: FastifyInstance, path: string, projects: () => readonly WatchedProject[]): void {
  app.get(path, async (request, reply) =>
    answerWithEtag(request, reply, { projects: projects().map(toProjectNumbers) }),
  );
  app.get<{ Params: { id: string }; Querystring: PageQuery }>(`${path}/:id`, async (request, reply) => {
    const { id } = request.params;
    const watchedProject = projects().find((project) => project.id === id);
    if (watchedProject === undefined) {
      const message = `no project ${JSON.stringify(id.slice(0, 200))} is watched`;
      throw new HttpRefusal(404, 'no-project', message, `see ${path} for those that are`);
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

/** Null means the first rows of all sections. */
function parsePage({ section, from }: PageQuery): Parameters<WatchedProject['sheetAt']>[0] | null {
  if (section === undefined && from === undefined) return null;
  if (typeof section !== 'string')
    throw new HttpRefusal(400, 'usage', 'from needs a section', 'use ?section=attention&from=100');
  const text = from ?? '0';
  if (typeof text !== 'string' || !/^\d{1,9}$/.test(text)) {
    const message = `from must be a whole number, not ${JSON.stringify(text).slice(0, 80)}`;
    throw new HttpRefusal(400, 'usage', message, 'use ?section=attention&from=100');
  }
  return { section, from: Number(text) };
}

/** Two answers with the same tag must be equal, so readers with and without the token never share a tag. */
function answerWithEtag(request: FastifyRequest, reply: FastifyReply, value: ProjectsWire | ProjectWire): FastifyReply {
  const body = JSON.stringify(value);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  void reply.header('ETag', etag).header('Cache-Control', REVALIDATE).header('Vary', 'Authorization');
  if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(body);
}

const NOTHING_READ: SheetOnWire = {
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

/** Removes the rows, because a row is text: its title, its ids, its owner. The number of rows stays. */
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

/** The sheet has plain values only, and its lists are only read here. */
const toPlainSheet = (sheet: object): SheetOnWire => sheet as unknown as SheetOnWire;
