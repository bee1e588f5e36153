import { createSvg } from './dom.ts';
import { createButton, createElement } from './element.ts';

const slot = (name: string, ...children: readonly Node[]) => createElement('span', { 'data-slot': name }, ...children);

/** Creates the parts of the view of one inbox, empty: its head, its messages, and beside them what is known of its agent. */
export function createViewParts(): HTMLElement {
  return createElement(
    'div',
    {},
    createElement('p', { class: 'back' }, createElement('a', { href: '#personas' }, 'All inboxes')),
    createHead(),
    createElement('p', { class: 'marks' }),
    createElement('p', { class: 'reason', 'data-slot': 'reason' }),
    createElement('div', { id: 'asks' }),
    createElement('div', { id: 'board' }),
    createElement('div', { class: 'columns' }, createMailPart(), createSide()),
    createElement('p', { class: 'done', id: 'done', role: 'status' }),
  );
}

function createHead(): HTMLElement {
  const shape = createSvg('svg', { class: 'shape', viewBox: '0 0 20 20', 'aria-hidden': 'true' });
  shape.append(createSvg('use', { href: '#pending' }));
  const name = createElement('bdi', { 'data-slot': 'name' }, 'Inbox');
  const names = createElement(
    'div',
    { class: 'who' },
    createElement('h1', { tabindex: '-1' }, name),
    createElement('p', { class: 'state' }, slot('state'), ' ', slot('since')),
  );
  const count = createElement('p', { class: 'count' }, slot('unread'), ' ', slot('unreadWord'));
  const menu = createElement(
    'details',
    { class: 'menu' },
    createElement('summary', {}, 'Actions'),
    createElement('fieldset', { id: 'acts', class: 'acts', 'aria-label': 'Actions' }),
  );
  const acts = createElement('div', { class: 'head-acts' }, createElement('span', { id: 'main-acts' }), menu);
  return createElement('div', { class: 'head' }, shape, names, count, acts);
}

function createMailPart(): HTMLElement {
  return createElement(
    'section',
    { class: 'panel messages', 'aria-labelledby': 'mail-name' },
    createElement(
      'div',
      { class: 'panel-head' },
      createElement('h2', { id: 'mail-name' }, 'Messages'),
      createElement('button', { type: 'button', id: 'read-all', hidden: true }, 'Mark all as read'),
    ),
    createElement('div', { id: 'reply-home' }),
    createElement('p', { class: 'soft', id: 'mail-words' }),
    createElement('ol', { class: 'mails', id: 'mails', 'aria-label': 'Messages' }),
    createElement('button', { type: 'button', class: 'more', id: 'older', hidden: true }, 'Load older messages'),
    createElement(
      'p',
      { class: 'soft', id: 'mail-end', hidden: true },
      'Older messages are only in the system that this inbox belongs to.',
    ),
  );
}

function createSide(): HTMLElement {
  return createElement(
    'aside',
    { class: 'side', 'aria-label': 'About this inbox' },
    createPanel('about', 'About', createElement('dl', { class: 'about-facts' })),
    createPanel('gates', 'Open gates', createElement('ul', { class: 'gates' })),
    createPanel('priorities', 'Unread by priority', createElement('table', { class: 'priorities' })),
    createPast(),
    createPanel('happened', 'Timeline', createElement('p', { class: 'soft', id: 'events-words' }), createEvents()),
    createSetUp(),
  );
}

const createEvents = (): HTMLElement => createElement('ol', { class: 'events', id: 'events' });

/** A panel that is hidden until there is something in it. */
function createPanel(id: string, title: string, ...children: readonly Node[]): HTMLElement {
  const heading = createElement('h2', { id: `${id}-name` }, title);
  return createElement('section', { class: 'panel', id, 'aria-labelledby': `${id}-name` }, heading, ...children);
}

function createPast(): HTMLElement {
  const head = createElement(
    'div',
    { class: 'panel-head' },
    createElement('h2', { id: 'past-name' }, 'Unread'),
    createElement('fieldset', { class: 'filters', id: 'spans', 'aria-label': 'Time shown' }),
  );
  const chart = createElement('div', { class: 'chart', id: 'chart' });
  const words = createElement('p', { class: 'soft', id: 'past-words' });
  return createElement(
    'section',
    { class: 'panel', id: 'past', hidden: true, 'aria-labelledby': 'past-name' },
    head,
    chart,
    words,
  );
}

/** What somebody needs once, when an agent is connected. */
function createSetUp(): HTMLElement {
  const command = createElement('bdi', { dir: 'ltr', 'data-slot': 'command' });
  const copy = createButton('Copy', () => {}, { class: 'copy', hidden: '' });
  const follow = createElement('div', { class: 'follow' }, createElement('code', {}, command), copy);
  const words = createElement('p', { class: 'soft' }, 'An agent gets its mail as it comes with this command:');
  return createElement(
    'details',
    { class: 'panel set-up' },
    createElement('summary', {}, 'Agent set-up'),
    words,
    follow,
  );
}
