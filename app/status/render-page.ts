import type { Instant } from '../../core/model/index.ts';
import {
  CLOSED,
  groupBySource,
  hasQuestion,
  MARKS,
  type Slots,
  toAskingCard,
  toCard,
  toCauseSlots,
  toSummary,
} from '../../ui-static/present.ts';
import type { PersonaWire, StatusWire } from './wire.ts';

/**
 * Creates the renderer for the page as a document that is complete without JavaScript. The markup of a card and of a cause is
 * defined once, in the `template` elements of index.html. Here they are filled as text; in the browser they are cloned and filled
 * by the same slots. Only `template` is trusted, and every value is escaped. The template is parsed once, because a reader waits
 * for the page and the process may have been idle.
 * @throws Error when `template` lacks one of its parts
 */
export function createPageRenderer(template: string): (status: StatusWire | null, now: Instant) => string {
  const rest = template.indexOf('<template');
  const document = createFiller(template.slice(0, rest));
  const cause = createFiller(extractTemplate(template, 'cause'));
  const group = createFiller(extractTemplate(template, 'group').replace('data-source=""', 'data-source="{{source}}"'));
  const decision = createFiller(
    extractTemplate(template, 'decision')
      .replace('data-key=""', 'data-key="{{key}}"')
      .replace('data-flags=""', 'data-flags="{{flags}}"')
      .replace('href="#persona="', '{{href}}'),
  );
  const card = createFiller(
    extractTemplate(template, 'card')
      .replace('data-id=""', 'data-id="{{personaId}}" id="persona={{fragment}}"')
      .replace('href="#persona="', 'href="#persona={{fragment}}"')
      .replace('data-look=""', 'data-look="{{look}}"')
      .replace('href="#pending"', 'href="#{{look}}"')
      .replace('data-flags=""', 'data-flags="{{flags}}"')
      .replace('<p class="marks"></p>', '<p class="marks">{{marks}}</p>'),
  );
  const formatCard = (persona: PersonaWire, isAsking: boolean, now: Instant): string => {
    const { id, fragment, shape, flags, slots } = toCard(persona, now, isAsking);
    const marks = MARKS.filter((name) => typeof slots[name] === 'string');
    const html = marks.map((name) => `<span data-slot="${name}">${escapeHtml(slots[name] ?? '')}</span>`);
    return card({ ...slots, personaId: id, fragment, look: shape, flags }, { marks: html.join('') });
  };
  return (status, now) => {
    const { shape, title, slots } = status === null ? CLOSED : toSummary(status);
    const cards = groupBySource(status?.personas.filter(({ hidden }) => !hidden) ?? []).flatMap((inboxGroup) => [
      ...(inboxGroup.slots === null ? [] : [group({ ...inboxGroup.slots, source: inboxGroup.source })]),
      ...inboxGroup.personas.map((persona) =>
        formatCard(persona, status !== null && hasQuestion(status, persona), now),
      ),
    ]);
    const causes = (status?.causes ?? []).map((entry) => cause(toCauseSlots(entry, now)));
    const decisions = (status?.decisions ?? []).map((entry) => {
      const { key, flags, fragment, slots } = toAskingCard(entry, status?.personas ?? [], now);
      return decision({ ...slots, key, flags }, { href: fragment === null ? '' : `href="#persona=${fragment}"` });
    });
    const html = { causes: causes.join(''), decisions: decisions.join(''), cards: cards.join('') };
    return document({ ...slots, look: shape, title }, html) + template.slice(rest);
  };
}

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
      else if (piece.is === 'place') filled += html[piece.name] ?? escapeHtml(slots[piece.name] ?? '');
      else {
        const text = slots[piece.name];
        filled +=
          text === null
            ? `${piece.tag} hidden>`
            : `${piece.tag}>${text === undefined ? piece.otherwise : escapeHtml(text)}`;
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

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for an element or a quoted attribute. NUL, which HTML cannot contain, becomes U+FFFD. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"'\0]/g, (c) => ENTITIES[c] ?? '\ufffd');
}
