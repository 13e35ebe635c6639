// Controls: labelled inputs that are set from the link and report the choice.
import { h } from '../../draw/dom';

export interface Control<T> {
  element: HTMLElement;
  set(value: T): void;
}

export type Choice = readonly [value: string, text: string];

export interface Chooser extends Control<string> {
  offer(choices: readonly Choice[]): void;
}

export function chooser(label: string, choices: readonly Choice[], chosen: (value: string) => void): Chooser {
  const select = h('select', { onchange: () => chosen(select.value) });
  let offered = '';
  const offer = (next: readonly Choice[]): void => {
    const text = JSON.stringify(next);
    if (text === offered) return;
    offered = text;
    const { value } = select;
    select.replaceChildren(...next.map(([word, name]) => h('option', { value: word }, name)));
    select.value = value;
  };
  offer(choices);
  return { element: h('label', { class: 'at-field' }, h('span', {}, label), select), set: (value) => void (select.value = value), offer };
}

/** A slider beside a box for the number itself. `moved` is called while it moves, `chosen` when it has come to rest. */
export function slider(
  label: string, range: { min: number; max: number; step: number }, moved: (value: number) => void, chosen: (value: number) => void,
): Control<number> {
  const limits = { min: range.min, max: range.max, step: range.step };
  const bar = h('input', {
    type: 'range', ...limits, 'aria-label': label, oninput: () => {
      box.value = bar.value;
      moved(Number(bar.value));
    }, onchange: () => chosen(Number(bar.value)),
  });
  const box = h('input', {
    type: 'number', ...limits, step: 'any', 'aria-label': `${label}, as a number`, onchange: () => {
      bar.value = box.value;
      chosen(Number(box.value));
    },
  });
  return {
    element: h('span', { class: 'at-field' }, h('span', {}, label), bar, box),
    set: (value) => {
      bar.value = String(value);
      if (Number(box.value) !== value) box.value = String(value);
    },
  };
}

/** A number of items; the word means all of them. */
export function countBox(
  label: string, limits: { min: number; max: number }, word: string, chosen: (value: number | null) => void,
): Control<number | null> {
  const box = h('input', { type: 'number', ...limits, step: 1, 'aria-label': label });
  const all = h('input', { type: 'checkbox' });
  const report = (): void => chosen(all.checked || box.value === '' ? null : Number(box.value));
  box.addEventListener('change', () => {
    all.checked = box.value === '';
    report();
  });
  all.addEventListener('change', () => {
    if (!all.checked && box.value === '') box.value = String(limits.min);
    report();
  });
  return {
    element: h('span', { class: 'at-field' }, h('span', {}, label), box, h('label', { class: 'at-tick' }, all, word)),
    set: (value) => {
      all.checked = value === null;
      if (value !== null) box.value = String(value);
      box.disabled = value === null;
    },
  };
}

export function button(text: string, pressed: () => void, title?: string): HTMLButtonElement {
  return h('button', { type: 'button', class: 'at-button', title, onclick: pressed }, text);
}

/** A part of the page that people open when they want numbers instead of a picture. */
export class Disclosure {
  readonly body = h('div', { class: 'at-disclosed' });
  readonly element: HTMLDetailsElement;

  constructor(title: string, private readonly fill: (body: HTMLElement) => void) {
    this.element = h('details', { class: 'at-details', ontoggle: () => this.refresh() }, h('summary', {}, title), this.body);
  }

  /** Fills it again while it is open. */
  refresh(): void {
    if (this.element.open) this.fill(this.body);
  }
}
