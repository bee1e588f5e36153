import type { StatusWire } from '../app/status/wire.ts';
import { getById, getPart } from './dom.ts';
import { addKeys } from './keyboard.ts';
import type { PlaceView, StartPlace } from './place-view.ts';
import type { Route } from './route.ts';

/** The views of the whole page that have a row here. Each is loaded when the person first goes there. */

type PlaceName = Exclude<Route['is'], 'overview' | 'persona'>;

interface Place {
  readonly load: () => Promise<StartPlace>;
  /** The key that goes there after `g`. Null: not in the navigation. */
  readonly key: string | null;
}

/** In the order of the navigation. The address of a place without a row leads to the overview. */
const PLACES: Partial<Record<PlaceName, Place>> = {
  feed: {
    load: async () => (await import('./feed.ts')).startFeed,
    key: 'm',
  },
  search: { load: async () => (await import('./feed.ts')).startFeed, key: null },
  decisions: {
    load: async () => (await import('./answered.ts')).startDecisionsView,
    key: 'd',
  },
  settings: {
    load: async () => (await import('./settings.ts')).startSettingsView,
    key: 's',
  },
};

const ROWS = Object.entries(PLACES) as [PlaceName, Place][];

export interface Places {
  has(route: Route): boolean;
  /** Shows the place that the route names, and none for another route. */
  show(route: Route): Promise<void>;
  draw(status: StatusWire, now: number): void;
  tokenCame(): void;
}

export function startPlaces(needToken: () => void): Places {
  const views = new Map<PlaceName, { readonly root: HTMLElement; readonly view: PlaceView }>();
  let shown: PlaceName | null = null;
  const links = startNavigation();

  async function open(name: PlaceName, place: Place, route: Route): Promise<void> {
    const start = await place.load();
    if (shown !== name) return; // the person has left in the meantime
    let entry = views.get(name);
    if (entry === undefined) {
      const root = document.createElement('section');
      root.className = 'place';
      root.id = `place-${name}`;
      root.tabIndex = -1;
      getById('view').after(root);
      entry = { root, view: start(root, needToken) };
      views.set(name, entry);
    }
    entry.root.hidden = false;
    entry.view.open(route);
  }

  return {
    has: ({ is }) => is === 'overview' || is === 'persona' || PLACES[is] !== undefined,
    async show(route) {
      for (const [is, link] of links) {
        if (is === (route.is === 'persona' ? 'overview' : route.is)) link.setAttribute('aria-current', 'page');
        else link.removeAttribute('aria-current');
      }
      const before = shown === null ? undefined : views.get(shown);
      if (shown !== null && shown !== route.is && before !== undefined) {
        before.view.close();
        before.root.hidden = true;
      }
      const place = route.is === 'overview' || route.is === 'persona' ? undefined : PLACES[route.is];
      shown = place === undefined ? null : (route.is as PlaceName);
      if (place !== undefined) await open(route.is as PlaceName, place, route);
    },
    draw(status, now) {
      if (shown !== null) views.get(shown)?.view.draw(status, now);
    },
    tokenCame() {
      for (const { view } of views.values()) view.tokenCame();
    },
  };
}

/** Takes the links of the header from the page as it was sent: links that come later would move what is below them. */
function startNavigation(): ReadonlyMap<Route['is'], HTMLElement> {
  const inboxes = ['overview', '#personas', 'i'] as const;
  const others = ROWS.flatMap(([name, { key }]) => (key === null ? [] : [[name, `#${name}`, key] as const]));
  const rows = [inboxes, ...others];
  const links = rows.map(([is, href]) => [is, getPart(getById('places'), `a[href="${href}"]`)] as const);
  addKeys(
    'Places',
    rows.map(([, href, key], i) => ({
      ...{ keys: `g ${key}`, words: links[i]?.[1].textContent ?? null },
      run: () => {
        location.hash = href;
      },
    })),
  );
  return new Map(links);
}
