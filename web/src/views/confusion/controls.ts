// The controls above the matrix: which tensors, which steps, how it is shown.
import { h } from '../../draw/dom';
import type { Normalisation, Order } from './matrix';

export interface TensorAnswer {
  id: string;
  name: string;
  reason?: string;
}

export const SPANS: Record<string, string> = { '1': 'this step', '10': 'the last 10 steps', '100': 'the last 100 steps', all: 'all steps up to here' };
export const NORMALISATIONS: Record<Normalisation, string> = { rows: 'shares of the label (recall)', columns: 'shares of the prediction (precision)', all: 'shares of all', counts: 'counts' };
export const ORDERS: Record<Order, string> = { number: 'number', name: 'name', actual: 'most labels', recall: 'lowest recall', precision: 'lowest precision', f1: 'lowest F1' };
export const MODES: Record<string, string> = { '': 'all modes', train: 'train', eval: 'eval', predict: 'predict' };

export type Change = (params: Record<string, string | undefined>) => void;

/** Changes the link's word `id`; the word is left out for `usual`. A cell means another one then. */
export function choice(id: string, label: string, options: Record<string, string>, value: string, usual: string, change: Change): HTMLElement {
  const select: HTMLSelectElement = h(
    'select',
    { id: `confusion-${id}`, onchange: () => change({ [id]: select.value === usual ? undefined : select.value, cell: undefined }) },
    ...Object.entries(options).map(([word, text]) => h('option', { value: word, selected: word === value }, text)),
  );
  return h('label', { for: `confusion-${id}` }, label, select);
}

export function check(id: string, label: string, on: string, value: boolean, change: Change): HTMLElement {
  const box: HTMLInputElement = h('input', { id: `confusion-${id}`, type: 'checkbox', checked: value, onchange: () => change({ [id]: box.checked ? on : undefined }) });
  return h('label', { for: `confusion-${id}` }, box, label);
}

export function tensorOptions(candidates: readonly TensorAnswer[], chosen: TensorAnswer | null): Record<string, string> {
  const options: Record<string, string> = chosen ? { [chosen.name]: chosen.name } : { '': 'choose one' };
  for (const each of candidates) options[each.name] = `${each.name} (${each.reason ?? ''})`;
  return options;
}
