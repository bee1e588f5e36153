import type { DeviceWire, SettingWire } from '../app/status/wire.ts';
import { displayName, formatDuration } from '../core/format/index.ts';
import { loadStyle } from './dom.ts';
import { createButton, createElement } from './element.ts';
import { createNotifyRules, nameRule } from './notify-rules.ts';
import type { PlaceView } from './place-view.ts';
import { ask, createTokenButton, TokenNeededError } from './token.ts';

interface QuietSpan {
  readonly from: string;
  readonly to: string;
  readonly urgent?: boolean;
}

interface ListedHive {
  readonly name: string;
  readonly base: string;
}

const WITHIN_MS = 20_000;
const MINUTE_MS = 60_000;
/** Hours that are offered where there are none. */
const USUAL: QuietSpan = { from: '22:00', to: '07:00' };

/** Shows the settings, and changes those that the server lets the page change. */
export function startSettingsView(root: HTMLElement, needToken: () => void): PlaceView {
  loadStyle('settings.css');
  const words = createElement('p', { class: 'said', role: 'status' });
  const body = createElement('div');
  root.append(createElement('h1', {}, 'Settings'), words, body);
  root.setAttribute('aria-label', 'Settings');
  const rules = createNotifyRules((value) => {
    const set = value.length === 0 ? null : value;
    return change('/api/v1/settings', { set: { key: 'notify', value: set } }, 'The rules are saved and apply now.');
  });

  async function load(): Promise<void> {
    try {
      const [{ settings }, { devices }] = await Promise.all([
        read<{ settings: SettingWire[] }>('/api/v1/settings'),
        read<{ devices: DeviceWire[] }>('/api/v1/devices'),
      ]);
      const find = (key: string): SettingWire | undefined => settings.find((setting) => setting.key === key);
      rules.show((find('notify')?.value ?? []) as Parameters<typeof rules.show>[0]);
      body.replaceChildren(
        showNotifications(find, change),
        showRules(rules.element),
        showHives((find('hives')?.value ?? []) as readonly ListedHive[], change),
        showDevices(devices, change),
        showOthers(settings.filter(({ key, canChange }) => !canChange && key !== 'hives')),
      );
    } catch (error) {
      fail(error);
    }
  }

  /** Sends a change, says what came of it, and shows what holds now. Resolves to why it was refused, and to null when it was not. */
  async function change(path: string, content: object, done: string): Promise<string | null> {
    body.inert = true;
    try {
      const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(content) };
      await ask(path, AbortSignal.timeout(WITHIN_MS), init);
      await load();
      words.textContent = done;
      delete words.dataset.is;
      return null;
    } catch (error) {
      fail(error);
      return error instanceof Error ? error.message : String(error);
    } finally {
      body.inert = false;
    }
  }

  function fail(error: unknown): void {
    words.dataset.is = 'not';
    if (error instanceof TokenNeededError) {
      body.replaceChildren();
      words.replaceChildren('Log in to see and change settings. ', createTokenButton(needToken));
    } else words.textContent = `Failed: ${nameRule(error instanceof Error ? error.message : String(error))}`;
  }

  return {
    open() {
      words.replaceChildren();
      void load();
      root.focus();
    },
    draw: ({ personas }) => rules.suggest(personas.map(({ id }) => id)),
    tokenCame: () => void load(),
    close() {},
  };
}

type Change = (path: string, content: object, done: string) => Promise<unknown>;

function showNotifications(find: (key: string) => SettingWire | undefined, change: Change): HTMLElement {
  const set = (key: string, value: unknown, done: string): void =>
    void change('/api/v1/settings', { set: { key, value } }, done);
  const toggle = (key: string, label: string, on: string, off: string): HTMLElement => {
    const box = createElement('input', { type: 'checkbox', checked: find(key)?.value === true });
    box.addEventListener('change', () => set(key, box.checked, box.checked ? on : off));
    return createElement('label', {}, box, label);
  };
  const hours = find('quietHours')?.value as QuietSpan | null | undefined;
  const from = createElement('input', { type: 'time', required: true, value: (hours ?? USUAL).from });
  const to = createElement('input', { type: 'time', required: true, value: (hours ?? USUAL).to });
  const urgent = createElement('input', { type: 'checkbox', checked: hours?.urgent === true });
  const form = createElement(
    'form',
    {},
    createElement('label', {}, 'Quiet from ', from),
    createElement('label', {}, 'to ', to),
    createElement('label', {}, urgent, 'still notify of urgent mail'),
    createElement('button', { type: 'submit' }, hours == null ? 'Set quiet hours' : 'Change quiet hours'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const value = { from: from.value, to: to.value, ...(urgent.checked ? { urgent: true } : {}) };
    set('quietHours', value, `Quiet from ${value.from} to ${value.to}.`);
  });
  const minutes = createElement('input', { type: 'number', min: '0', required: true });
  minutes.value = String(find('remindMinutes')?.value ?? 0);
  const remind = createElement(
    'form',
    {},
    createElement('label', {}, 'Remind of an open question after ', minutes, ' minutes; 0: never'),
    createElement('button', { type: 'submit' }, 'Set'),
  );
  remind.addEventListener('submit', (event) => {
    event.preventDefault();
    const value = Number(minutes.value);
    set(
      'remindMinutes',
      value,
      value === 0 ? 'There are no reminders.' : `Reminders come after ${formatDuration(value * MINUTE_MS)}.`,
    );
  });
  const none = createButton('No quiet hours', () => set('quietHours', null, 'There are no quiet hours.'));
  none.hidden = hours == null;
  form.append(none);
  return createSection(
    'Notifications',
    toggle('notifications', 'Show notifications on the desktop', 'Notifications are shown.', 'Notifications are off.'),
    toggle('sound', 'With a sound', 'Notifications make a sound.', 'Notifications are silent.'),
    form,
    remind,
  );
}

function showRules(form: HTMLElement): HTMLElement {
  const note = 'The first rule that fits a persona applies. A persona without a rule notifies of everything. ';
  const example = [code('team-*'), ' is every persona whose id begins with ', code('team-'), '.'];
  return createSection('Notification rules', createElement('p', { class: 'soft' }, note, ...example), form);
}

function showHives(hives: readonly ListedHive[], change: Change): HTMLElement {
  const rows = hives.map(({ name, base }) => {
    const remove = createButton('Remove', () => {
      void change('/api/v1/settings', { removeHive: name }, `${name} is not watched any more. Its event files stay.`);
    });
    remove.setAttribute('aria-label', `Remove ${name}`);
    return createRow(name, displayName(base), remove);
  });
  const url = createElement('input', { type: 'url', required: true, placeholder: 'https://hive.example.org' });
  const name = createElement('input', { type: 'text', pattern: '[a-z0-9]{1,32}', placeholder: 'from the address' });
  const form = createElement(
    'form',
    {},
    createElement('label', {}, 'Address ', url),
    createElement('label', {}, 'Name ', name),
    createElement('button', { type: 'submit' }, 'Add hive'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const addHive = { url: url.value, ...(name.value === '' ? {} : { name: name.value }) };
    void change('/api/v1/settings', { addHive }, `${url.value} is watched from now on.`);
  });
  const note = createElement(
    'p',
    { class: 'soft' },
    'A hive with a token is added with ',
    code('hivebar hive add'),
    '.',
  );
  return createSection('Hives', createList(rows, 'No further hive is watched.'), form, note);
}

function showDevices(devices: readonly DeviceWire[], change: Change): HTMLElement {
  const revoke = (content: object, done: string): void => void change('/api/v1/devices/revoke', content, done);
  const rows = devices.map(({ id, name, created, lastUsed, isThis }) => {
    const label = isThis ? 'Log out' : 'Revoke';
    const button = createButton(label, () => revoke({ id }, `${displayName(name)} is logged out.`));
    button.setAttribute('aria-label', `${label} ${displayName(name)}, ${id}`);
    const times = `since ${created.slice(0, 10)}, last used ${lastUsed}`;
    return createRow(`${displayName(name)}${isThis ? ' (this browser)' : ''}`, times, button);
  });
  const all = createButton('Log out all browsers', () => revoke({ all: true }, 'All browsers are logged out.'));
  all.hidden = devices.length < 2;
  return createSection('Logged-in browsers', createList(rows, 'No browser is logged in.'), all);
}

function showOthers(settings: readonly SettingWire[]): HTMLElement {
  const rows = settings.map(({ key, value, description, isDefault, atNextStart }) => {
    const given = value === null ? 'not set' : displayName(JSON.stringify(value));
    const notes = [description, ...(atNextStart ? ['applies at the next start'] : [])].join('; ');
    return [
      createElement('dt', {}, code(key)),
      createElement(
        'dd',
        {},
        createElement('span', { class: isDefault ? 'soft' : '' }, code(given)),
        createElement('small', {}, notes),
      ),
    ];
  });
  const how = createElement('p', { class: 'soft' }, 'Change these with ', code('hivebar config set KEY VALUE'), '.');
  return createSection(
    'Other settings',
    how,
    createElement(
      'details',
      {},
      createElement('summary', {}, `Show all ${rows.length}`),
      createElement('dl', {}, ...rows.flat()),
    ),
  );
}

function createSection(name: string, ...content: readonly Node[]): HTMLElement {
  const id = `settings-${name.toLowerCase().replaceAll(/\W+/g, '-')}`;
  const section = createElement('section', {}, createElement('h2', { id }, name), ...content);
  section.setAttribute('aria-labelledby', id);
  return section;
}

function createList(rows: readonly HTMLElement[], empty: string): HTMLElement {
  return rows.length === 0 ? createElement('p', { class: 'soft' }, empty) : createElement('ul', {}, ...rows);
}

function createRow(name: string, detail: string, button: HTMLElement): HTMLElement {
  const text = createElement('span', {}, createElement('bdi', {}, name), createElement('small', {}, detail));
  return createElement('li', {}, text, button);
}

const code = (text: string): HTMLElement => createElement('code', {}, text);

async function read<T>(path: string): Promise<T> {
  return (await (await ask(path, AbortSignal.timeout(WITHIN_MS))).json()) as T;
}
