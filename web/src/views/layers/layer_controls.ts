// The row of controls. Each changes a word of the link, nothing else.
import { h, replace } from '../../draw/dom';
import type { ViewContext } from '../view';

import type { LayerMap } from './api';
import { collectionsFor, QUANTITIES, type Quantity, quantityOf } from './quantities';

export class LayerControls {
  readonly element: HTMLElement;
  private readonly quantity: HTMLSelectElement;
  private readonly of: HTMLSelectElement;
  private readonly mode: HTMLSelectElement;
  private readonly worker: HTMLSelectElement;
  private readonly colours: HTMLSelectElement;
  private readonly fields: Record<'of' | 'worker' | 'colours', HTMLElement>;

  private readonly whole: HTMLButtonElement;

  constructor(context: ViewContext, all: () => void) {
    const choice = (word: string, options: [string, string][]) => {
      const select = h('select', { 'data-choice': word, onchange: () => context.change({ [word]: select.value === '' ? undefined : select.value, ...(word === 'quantity' ? { of: undefined } : {}) }) }, ...options.map(([value, text]) => h('option', { value }, text)));
      return select;
    };
    this.quantity = choice('quantity', QUANTITIES.map(({ id, title }) => [id, title]));
    this.of = choice('of', []);
    this.mode = choice('mode', [['', 'all modes'], ['train', 'train'], ['eval', 'eval'], ['predict', 'predict']]);
    this.worker = choice('worker', []);
    this.colours = choice('colours', [['', 'logarithmic'], ['linear', 'linear']]);
    this.fields = { of: h('label', {}, 'Of ', this.of), worker: h('label', {}, 'Worker ', this.worker), colours: h('label', {}, 'Colours ', this.colours) };
    this.whole = h('button', { onclick: all, title: 'All steps (0)' }, 'Reset zoom');
    this.element = h('div', { class: 'toolbar' }, h('label', {}, 'Quantity ', this.quantity), this.fields.of, h('label', {}, 'Mode ', this.mode), this.fields.worker, this.fields.colours, this.whole);
  }

  show(quantity: Quantity, map: LayerMap, params: Readonly<Record<string, string>>): void {
    const collections = [...new Set([map.about.collection, ...collectionsFor(quantity, map.kept)])];
    options(this.of, collections.map((name): [string, string] => [name, name]), map.about.collection);
    options(this.worker, map.about.workers.map((name): [string, string] => [name, name]), map.about.worker);
    this.fields.of.hidden = !quantity.ofAny;
    this.fields.worker.hidden = map.about.workers.length < 2;
    this.fields.colours.hidden = quantity.isShare;
    this.whole.disabled = params['from'] === undefined && params['to'] === undefined;
    for (const option of this.quantity.options) {
      const each = quantityOf(option.value)!;
      option.textContent = collectionsFor(each, map.kept).length > 0 ? each.title : `${each.title} – not captured`;
    }
    this.quantity.value = quantity.id;
    this.mode.value = params['mode'] ?? '';
    this.colours.value = params['colours'] === 'linear' ? 'linear' : '';
  }
}

/** A list that is open stays as it is while nothing in it changes. */
function options(select: HTMLSelectElement, list: [string, string][], value: string): void {
  const key = list.map(([name]) => name).join('\n');
  if (select.dataset['options'] !== key) replace(select, ...list.map(([name, text]) => h('option', { value: name }, text)));
  select.dataset['options'] = key;
  select.value = value;
}
