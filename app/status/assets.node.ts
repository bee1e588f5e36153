import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join } from 'node:path';
import type { Instant } from '../../core/model/index.ts';
import { FIRST_ORDER, isCrowd, type ListItem, listInboxes } from '../../ui-static/inbox-order.ts';
import { MARKS, ROW_MARKS, type Slots, toAskingCard, toOverviewCard } from '../../ui-static/present.ts';
import { CLOSED, toCauses, toSummary } from '../../ui-static/summary.ts';
import { escapeMarkup } from './markup.ts';
import type { Asset, PageAssets } from './status-options.ts';
import type { StatusWire } from './wire.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

// In the package the built page is in dist/page/, beside the compiled files. In a checkout it is made from ui-static/.
const FOLDER = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, '..', '..', 'ui-static')
  : join(import.meta.dirname, 'page');

/**
 * Reads the page into memory, once. In a checkout the types are stripped from its TypeScript and each file is served, so that
 * there is no build step to forget. In the package it is what `build/page.ts` bundled.
 */
export function loadPage(folder: string = FOLDER): PageAssets {
  // the indentation would be sent with every card
  const template = readFileSync(join(folder, 'index.html'), 'utf8').replaceAll(/\n\s+/g, '\n');
  const files = new Map<string, Asset>();
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const type = TYPES[extname(name)];
    if (type !== undefined) files.set(name, { type, body: readFileSync(path) });
    else if (/^[\w-]+\.ts$/.test(name)) files.set(name.replace(/\.ts$/, '.js'), loadScript(path));
  }
  const format = join(folder, '..', 'core', 'format');
  if (files.has('present.js') && existsSync(format)) {
    for (const name of readdirSync(format).filter((file) => /^[\w-]+(\.node)?\.ts$/.test(file)))
      files.set(name === 'index.ts' ? FORMAT : name.replace(/\.ts$/, '.js'), loadScript(join(format, name)));
  }
  const chart = files.has(CHART) ? null : loadChartLibrary();
  if (chart !== null) files.set(CHART, { type: TYPES['.js'] ?? '', body: chart });
  return { html: createPageRenderer(template), files };
}

/** The name under which the page loads `core/format`, which it shares with the program. */
const FORMAT = 'format.js';

/** Loads a script of the checkout without its types. Its imports use the names under which the files are served. */
function loadScript(path: string): Asset {
  const code = stripTypes(readFileSync(path, 'utf8'))
    .replaceAll("'../core/format/index.ts'", `'./${FORMAT}'`)
    .replace(/((?:from |import\()'\.\/[\w-]+(?:\.node)?)\.ts'/g, "$1.js'");
  return { type: TYPES['.js'] ?? '', body: Buffer.from(code) };
}

/** The name under which the page loads the chart library. The view of one inbox loads it, the overview does not. */
const CHART = 'uplot.js';

/**
 * Loads uPlot as a module, because its small build is published only as a script. Returns null in a checkout without it; then no
 * charts are drawn.
 */
function loadChartLibrary(): Buffer | null {
  let main: string;
  try {
    main = createRequire(import.meta.url).resolve('uplot');
  } catch {
    return null; // it is a development dependency, and the rest of the page works without it
  }
  const script = readFileSync(join(dirname(main), 'uPlot.iife.min.js'), 'utf8');
  return Buffer.from(`${script}\nexport default uPlot;\n`);
}

/** Strips types without the warning that Node prints once on stderr. The user cannot act on that warning. */
function stripTypes(code: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(code);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * Creates the renderer for the page as a document that is complete without JavaScript. The markup of a card and of a cause is
 * defined once, in the `template` elements of index.html. Here they are filled as text; in the browser they are cloned and filled
 * by the same slots. Only `template` is trusted, and every value is escaped. The template is parsed once, because a reader waits
 * for the page and the process may have been idle.
 * @throws Error when `template` lacks one of its parts
 */
function createPageRenderer(template: string): PageAssets['html'] {
  const [head = '', foot = ''] = template.split('{{cards}}');
  const top = createFiller(head);
  const bottom = createFiller(foot.slice(0, foot.indexOf('<template')));
  const cause = createFiller(extractTemplate(template, 'cause'));
  const group = createFiller(
    extractTemplate(template, 'group')
      .replace('data-key=""', 'data-key="{{key}}"')
      .replace('aria-expanded="true"', 'aria-expanded="{{isOpen}}"'),
  );
  const decision = createFiller(
    extractTemplate(template, 'decision')
      .replace('data-key=""', 'data-key="{{key}}"')
      .replace('data-flags=""', 'data-flags="{{flags}}"')
      .replace('href="#persona="', '{{href}}'),
  );
  const createInbox = (id: string): ReturnType<typeof createFiller> =>
    createFiller(
      extractTemplate(template, id)
        .replaceAll('\n', '') // each would be a node of the document
        .replace('data-key=""', 'data-key="{{key}}"')
        .replace('data-id=""', 'data-id="{{personaId}}" id="persona={{fragment}}"')
        .replace('href="#persona="', 'href="#persona={{fragment}}"')
        .replace('data-look=""', 'data-look="{{look}}"')
        .replace('href="#pending"', 'href="#{{look}}"')
        .replace('data-flags=""', 'data-flags="{{flags}}"')
        .replace('class="marks">', 'class="marks">{{marks}}'),
    );
  const card = createInbox('card');
  const row = createInbox('inbox-row');
  const formatItem = (item: ListItem, { decisions, causes }: StatusWire, isRow: boolean, now: Instant): string => {
    if (item.is === 'group') return group({ ...item.slots, key: item.key, isOpen: String(item.isOpen) });
    const isAsking = decisions.some(({ persona }) => persona === item.persona.id);
    const isExplained = causes.some(({ personas }) => personas.includes(item.persona.id));
    const { id, fragment, shape, flags, slots } = toOverviewCard(
      item.persona,
      { isAsking, isExplained, newest: null },
      now,
    );
    const marks = (isRow ? ROW_MARKS : MARKS).filter((name) => typeof slots[name] === 'string');
    const html = marks.map((name) => `<span data-slot="${name}">${escapeMarkup(slots[name] ?? '')}</span>`);
    const places = { key: item.key, personaId: id, fragment, look: shape, flags };
    return (isRow ? row : card)({ ...slots, ...places }, { marks: html.join('') });
  };
  return (status, now) => {
    const { shape, title, slots } = status === null ? CLOSED : toSummary(status);
    const causes = (status === null ? [] : toCauses(status, now)).map((entry) => cause(entry));
    const decisions = (status?.decisions ?? []).map((entry) => {
      const { key, flags, fragment, slots } = toAskingCard(entry, status?.personas ?? [], now);
      return decision({ ...slots, key, flags }, { href: fragment === null ? '' : `href="#persona=${fragment}"` });
    });
    const isRow = status !== null && isCrowd(status.personas);
    const visible = status?.personas.filter(({ hidden }) => !hidden) ?? [];
    const items = status === null ? [] : listInboxes(visible, status, FIRST_ORDER);
    const first = items.slice(0, FIRST_ROWS);
    const left = items.length - first.length;
    const rest = left === 0 ? null : `${left} more. A script shows them, and so does status.json.`;
    const list = isRow ? 'inbox-rows' : 'cards';
    return [
      top({ ...slots, list, look: shape, title }, { causes: causes.join(''), decisions: decisions.join('') }),
      ...first.map((item) => (status === null ? '' : formatItem(item, status, isRow, now))),
      bottom({ ...slots, rest }),
      foot.slice(foot.indexOf('<template')),
    ].join('');
  };
}

/** The rows that the server writes: more than a large window shows. A script draws the others where they are looked at. */
const FIRST_ROWS = 50;

/** The parts of a fragment, which are the places to fill and the text between them. */
type TemplatePiece =
  | string
  /** `{{name}}`, in an attribute or between elements. */
  | { readonly is: 'place'; readonly name: string }
  /** An element with `data-slot`, without its `>`, and its text when the slot is not filled. */
  | { readonly is: 'slot'; readonly tag: string; readonly name: string; readonly otherwise: string };

const PLACES = /\{\{(\w+)\}\}|(<[a-z][a-z0-9]*[^>]*\sdata-slot="(\w+)"[^>]*)>([^<]*)/g;

/**
 * Returns a function that puts each slot's text into its element, or hides the element when there is none. Values of `html` are
 * inserted as they are.
 */
function createFiller(fragment: string): (slots: Slots, html?: Readonly<Record<string, string>>) => string {
  const pieces: TemplatePiece[] = [];
  let from = 0;
  for (const { 0: whole, 1: place, 2: tag = '', 3: slot = '', 4: otherwise = '', index } of fragment.matchAll(PLACES)) {
    pieces.push(fragment.slice(from, index));
    pieces.push(place === undefined ? { is: 'slot', tag, name: slot, otherwise } : { is: 'place', name: place });
    from = index + whole.length;
  }
  pieces.push(fragment.slice(from));
  return (slots, html = {}) => {
    let filled = '';
    for (const piece of pieces) {
      if (typeof piece === 'string') filled += piece;
      else if (piece.is === 'place') filled += html[piece.name] ?? escapeMarkup(slots[piece.name] ?? '');
      else {
        const text = slots[piece.name];
        filled +=
          text === null
            ? `${piece.tag} hidden>`
            : `${piece.tag}>${text === undefined ? piece.otherwise : escapeMarkup(text)}`;
      }
    }
    return filled;
  };
}

function extractTemplate(template: string, id: string): string {
  const inner = new RegExp(`<template id="${id}">([\\s\\S]*?)</template>`).exec(template)?.[1];
  if (inner === undefined) throw new Error(`index.html has no template "${id}"`);
  return inner.trim();
}
