import { createButton, createElement } from './element.ts';

/** An entry of the setting `notify`. */
interface NotifyRule {
  readonly persona: string;
  readonly only?: readonly string[];
  readonly sound?: boolean;
}

export interface NotifyRulesForm {
  readonly element: HTMLElement;
  /** Shows the rules of the file, unless the person changes them at this time. */
  show(rules: readonly NotifyRule[]): void;
  /** Offers these ids for the persona of a rule. */
  suggest(ids: readonly string[]): void;
}

/** What can stand in `only`, as docs/contract/silence.md says it. */
const KINDS = {
  mail: 'all mail',
  urgent: 'urgent mail and decisions',
  questions: 'decisions and mail that asks',
  permissions: 'permission prompts',
  waits: 'agents that wait',
  outages: 'outages',
};
const SCOPES = { everything: 'everything', only: 'only some kinds', nothing: 'nothing' };
const SOUNDS = { '': 'as set above', true: 'on', false: 'off' };

/** Shows the rules as a form. `save` resolves to why they were refused, and to null when they hold now. */
export function createNotifyRules(save: (rules: readonly NotifyRule[]) => Promise<string | null>): NotifyRulesForm {
  let saved: readonly NotifyRule[] = [];
  const list = createElement('div', { class: 'rules' });
  const suggestions = createElement('datalist', { id: 'notify-personas' });
  const add = createButton('Add a rule', () => {
    const rule = createRule({ persona: '' }, touch);
    list.append(rule);
    touch();
    rule.querySelector('input')?.focus();
  });
  const unsaved = createElement(
    'span',
    { class: 'unsaved' },
    createElement('button', { type: 'submit' }, 'Save rules'),
    createButton('Discard changes', () => {
      fill(saved);
      add.focus();
    }),
    'Not saved yet.',
  );
  const form = createElement('form', {}, list, suggestions, add, unsaved);
  fill([]);

  function fill(rules: readonly NotifyRule[]): void {
    list.replaceChildren(...rules.map((rule) => createRule(rule, touch)));
    touch();
    unsaved.hidden = true;
  }

  /** Numbers the rules, after any change of them. */
  function touch(): void {
    unsaved.hidden = false;
    for (const [index, rule] of [...list.children].entries()) {
      (rule.firstElementChild as HTMLElement).textContent = `Rule ${index + 1}`;
      for (const button of rule.querySelectorAll('button')) {
        button.setAttribute('aria-label', `${button.textContent} rule ${index + 1}`);
        const { by } = button.dataset;
        button.disabled = by !== undefined && list.children[index + Number(by)] === undefined;
      }
    }
  }

  form.addEventListener('input', touch);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const reason = await save([...list.children].map(readRule));
    for (const input of list.querySelectorAll('[aria-invalid]')) input.removeAttribute('aria-invalid');
    if (reason === null) {
      fill(saved);
      add.focus();
      return;
    }
    const input = list.children[Number(ROW.exec(reason)?.[1] ?? Number.NaN)]?.querySelector('input');
    input?.setAttribute('aria-invalid', 'true');
    input?.focus();
  });
  return {
    element: form,
    show(rules) {
      saved = rules;
      if (unsaved.hidden) fill(rules);
    },
    suggest(ids) {
      if (suggestions.dataset.ids === ids.join()) return;
      suggestions.dataset.ids = ids.join();
      suggestions.replaceChildren(...ids.map((value) => createElement('option', { value })));
    },
  };
}

const ROW = /^notify\.(\d+)\./;

/** Names a rule as its legend does. */
export function nameRule(reason: string): string {
  return reason.replace(ROW, (_, index: string) => `rule ${Number(index) + 1}: `);
}

function createRule({ persona, only, sound }: NotifyRule, touch: () => void): HTMLElement {
  const id = { name: 'persona', list: 'notify-personas', value: persona, placeholder: 'ada or team-*' };
  const boxes = Object.entries(KINDS).map(([value, label]) => {
    const isOn = only?.includes(value) ?? false;
    return createElement('label', {}, createElement('input', { type: 'checkbox', value, checked: isOn }), label);
  });
  const kinds = createElement('fieldset', {}, createElement('legend', {}, 'Only'), ...boxes);
  const scope = createSelect('scope', SCOPES, only === undefined ? 'everything' : only.length > 0 ? 'only' : 'nothing');
  const showKinds = (): void => {
    kinds.hidden = scope.value !== 'only';
  };
  scope.addEventListener('change', showKinds);
  showKinds();
  const move = (label: string, by: -1 | 1): HTMLButtonElement => {
    const run = (): void => {
      if (by < 0) rule.previousElementSibling?.before(rule);
      else rule.nextElementSibling?.after(rule);
      touch();
      (button.disabled ? rule.querySelector<HTMLElement>('[data-by]:enabled') : button)?.focus();
    };
    const button = createButton(label, run, { 'data-by': String(by) });
    return button;
  };
  const remove = createButton('Remove', () => {
    const next = rule.nextElementSibling ?? rule.previousElementSibling ?? rule.parentElement?.parentElement;
    rule.remove();
    touch();
    next?.querySelector<HTMLElement>('input, button')?.focus();
  });
  const rule = createElement(
    'fieldset',
    {},
    createElement('legend'),
    createElement('label', {}, 'Persona', createElement('input', { ...id, autocomplete: 'off', spellcheck: 'false' })),
    createElement('label', {}, 'Notifies of', scope),
    createElement('label', {}, 'Sound', createSelect('sound', SOUNDS, String(sound ?? ''))),
    kinds,
    createElement('span', { class: 'moves' }, move('Move up', -1), move('Move down', 1), remove),
  );
  return rule;
}

function readRule(rule: Element): NotifyRule {
  const read = (name: string): string => rule.querySelector<HTMLInputElement>(`[name="${name}"]`)?.value.trim() ?? '';
  const [scope, sound] = [read('scope'), read('sound')];
  const boxes = [...rule.querySelectorAll<HTMLInputElement>('[type="checkbox"]')];
  const kinds = scope === 'only' ? boxes.flatMap(({ checked, value }) => (checked ? [value] : [])) : [];
  return {
    persona: read('persona'),
    ...(scope === 'everything' ? {} : { only: kinds }),
    ...(sound === '' ? {} : { sound: sound === 'true' }),
  };
}

function createSelect(name: string, labels: Readonly<Record<string, string>>, value: string): HTMLSelectElement {
  const options = Object.entries(labels).map(([each, label]) => createElement('option', { value: each }, label));
  const select = createElement('select', { name }, ...options);
  select.value = value;
  return select;
}
