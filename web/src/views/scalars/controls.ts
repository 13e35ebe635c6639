// The row of controls. Each changes a word of the link, nothing else.
import { h } from '../../draw/dom';
import { SERIES_NUMBERS } from '../series';
import type { ViewContext } from '../view';
import type { Words } from './words';

export class Controls {
  readonly element: HTMLElement;
  private readonly search: HTMLInputElement;
  private readonly of = select('Statistic', [['', 'as kept'], ...SERIES_NUMBERS.map((name): [string, string] => [name, name.replace('_', ' ')])]);
  private readonly mode = select('Mode', [['', 'all modes'], ['train', 'train'], ['eval', 'eval'], ['predict', 'predict']]);
  private readonly x = select('X', [['', 'train step'], ['step', 'step of the run'], ['time', 'wall time'], ['relative', 'seconds since the start']]);
  private readonly y = select('Y', [['', 'linear'], ['log', 'log'], ['symlog', 'symlog']]);
  private readonly smooth: HTMLInputElement;
  private readonly smoothText = h('output', { class: 'number' });
  private readonly whole: HTMLButtonElement;
  private readonly table: HTMLButtonElement;
  private readonly clip: HTMLInputElement;
  /** From one chart to all panels. */
  readonly back: HTMLButtonElement;
  private readonly together: HTMLButtonElement;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(context: ViewContext, copy: () => void, all: () => void) {
    const change = (word: string) => (event: Event) => context.change({ [word]: (event.target as HTMLInputElement).value || undefined });
    const find = () => context.change({ q: this.search.value || undefined });
    this.search = h('input', { type: 'search', class: 'search', 'data-search': true, placeholder: 'regex, or a collection', oninput: () => this.later(find), onchange: () => this.now(find) });
    this.smooth = h('input', { type: 'range', 'aria-label': 'Smooth', min: 0, max: 0.99, step: 0.01, oninput: () => context.change({ smooth: this.smooth.value === '0' ? undefined : this.smooth.value }) });
    this.of.addEventListener('change', change('of'));
    this.mode.addEventListener('change', change('mode'));
    this.x.addEventListener('change', change('x'));
    this.y.addEventListener('change', change('y'));
    this.whole = h('button', { onclick: all, title: 'The whole series (0)' }, 'Reset zoom');
    this.table = h('button', { onclick: () => context.change({ table: this.table.getAttribute('aria-pressed') === 'true' ? undefined : '1' }) }, 'As table');
    this.clip = h('input', { type: 'checkbox', onchange: () => context.change({ clip: this.clip.checked ? '1' : undefined }) });
    this.back = h('button', { onclick: () => context.change({ panel: undefined, together: undefined }) }, '← All panels');
    this.together = h('button', { title: 'All that is found in one chart', onclick: () => context.change({ together: '1' }) }, 'In one chart');
    this.element = h('div', { class: 'toolbar' },
      h('label', {}, 'Search ', this.search), h('label', {}, 'Statistic ', this.of), h('label', {}, 'Mode ', this.mode),
      h('label', {}, 'X ', this.x), h('label', {}, 'Y ', this.y),
      h('label', { title: 'Exponential moving average over the points shown; the raw line stays behind it' }, 'Smooth ', this.smooth, this.smoothText),
      h('label', { title: 'Leave out the highest and the lowest hundredth of the values' }, this.clip, 'Without outliers'),
      this.whole, this.together, this.table, h('button', { onclick: copy, title: 'What is shown, as CSV, to the clipboard' }, 'Copy CSV'));
  }

  show(words: Words): void {
    if (document.activeElement !== this.search) this.search.value = words.search;
    this.of.value = words.of ?? '';
    this.mode.value = words.mode ?? '';
    for (const option of this.x.options) option.disabled = words.group !== undefined && (option.value === 'time' || option.value === 'relative');
    this.x.value = words.axis === 'train' ? '' : words.axis;
    this.y.value = words.y === 'linear' ? '' : words.y;
    this.smooth.value = String(words.smooth);
    this.smoothText.textContent = words.smooth.toFixed(2);
    this.whole.disabled = words.from === undefined && words.to === undefined;
    this.clip.checked = words.clip;
    const isPanels = words.panel === undefined && !words.together && !words.table;
    this.back.hidden = isPanels;
    this.together.hidden = !isPanels;
    this.table.setAttribute('aria-pressed', String(words.table));
  }

  /** Who leaves the field has said it all: what follows must not put the old word back. */
  private now(act: () => void): void {
    clearTimeout(this.timer);
    act();
  }

  private later(act: () => void): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(act, 150);
  }
}

function select(label: string, options: [value: string, text: string][]): HTMLSelectElement {
  return h('select', { 'aria-label': label }, ...options.map(([value, text]) => h('option', { value }, text)));
}
