import type { Instant } from '../../core/model/index.ts';
import { CLOSED, cardOf, causeOf, groupsOf, type Slots, summaryOf } from '../../ui-static/present.ts';
import type { PersonaWire, StatusWire } from './wire.ts';

/**
 * The page as a document that says everything without JavaScript. The markup of a card and of a cause stands once, in the
 * `template` elements of index.html: here they are filled as text, in the browser they are cloned and filled by the same
 * slots. Only `template` is trusted; every value is escaped.
 */
export function renderPage(template: string, status: StatusWire | null, now: Instant): string {
  const summary = status === null ? CLOSED : summaryOf(status);
  const card = innerOf(template, 'card');
  const cause = innerOf(template, 'cause');
  const group = innerOf(template, 'group');
  const cards = groupsOf(status?.personas.filter(({ hidden }) => !hidden) ?? []).flatMap(
    ({ source, slots, personas }) => [
      ...(slots === null
        ? []
        : [fill(group, slots).replace('data-source=""', () => `data-source="${escaped(source)}"`)]),
      ...personas.map(cardHtml),
    ],
  );
  function cardHtml(persona: PersonaWire): string {
    const { id, fragment, look, flags, slots } = cardOf(persona, now);
    return fill(card, slots)
      .replace('data-id=""', () => `data-id="${escaped(id)}" id="persona=${escaped(fragment)}"`)
      .replace('href="#persona="', () => `href="#persona=${escaped(fragment)}"`)
      .replace('data-look=""', `data-look="${look}"`)
      .replace('href="#pending"', `href="#${look}"`)
      .replace('data-flags=""', `data-flags="${flags}"`);
  }
  const parts: Readonly<Record<string, string>> = {
    look: summary.look,
    title: escaped(summary.title),
    causes: (status?.causes ?? []).map((one) => fill(cause, causeOf(one, now))).join(''),
    cards: cards.join(''),
  };
  const head = template.indexOf('<template');
  // all at once: a value that looks like a place of the template is not taken for one
  const filled = fill(template.slice(0, head), summary.slots).replace(
    /\{\{(\w+)\}\}/g,
    (_, name: string) => parts[name] ?? '',
  );
  return filled + template.slice(head);
}

/** Puts each slot's text into its element, in place of what the template has there, or hides the element when it has none. */
function fill(html: string, slots: Slots): string {
  return html.replace(
    /(<[a-z][a-z0-9]*[^>]*\sdata-slot="(\w+)"[^>]*)>[^<]*/g,
    (whole: string, tag: string, slot: string) => {
      const text = slots[slot];
      if (text === undefined) return whole;
      return text === null ? `${tag} hidden>` : `${tag}>${escaped(text)}`;
    },
  );
}

function innerOf(template: string, id: string): string {
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

/** Text as it may stand in an element or a quoted attribute. NUL, which HTML can not hold, becomes U+FFFD. */
function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (c) => ENTITIES[c] ?? c).replaceAll('\0', '\ufffd');
}
