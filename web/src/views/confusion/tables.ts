// The numbers of each class, the confusions that occur most, and the matrix as a table.
import { h, type Child } from '../../draw/dom';
import { cellInWords, percent, topConfusions, type Interval, type Matrix } from './matrix';

const MOST_CELLS = 60 * 60;

/** The interval below its value: beside it the last columns would not fit, with B. */
function withIntervalBelow({ value, low, high }: Interval): Child[] {
  return Number.isNaN(value) ? ['–'] : [percent(value), ' ', h('span', { class: 'confusion-interval' }, `${(100 * low).toFixed(1)}–${(100 * high).toFixed(1)}`)];
}

/** With the recall and F1 of what it is compared with, whose rows are in the same places. */
export function classTable(matrix: Matrix, order: readonly number[], other: Matrix | null): HTMLElement {
  const titles = ['Class', 'Labels', 'Predictions', 'Precision', 'Recall', 'F1', ...(other ? ['Recall in B', 'F1 in B'] : [])];
  return h(
    'table',
    { class: 'table', 'data-classes': matrix.rows.length },
    h('caption', {}, 'Each class, with 95 % intervals (Wilson)'),
    h('thead', {}, h('tr', {}, ...titles.map((title, i) => h('th', { scope: 'col', class: i > 0 ? 'number' : undefined }, title)))),
    h('tbody', {}, ...order.map((place) => {
      const row = matrix.rows[place]!;
      const cells: Child[][] = [[row.actual], [row.predicted], withIntervalBelow(row.precision), withIntervalBelow(row.recall), [percent(row.f1)]];
      const there = other?.rows[place];
      if (there) cells.push(withIntervalBelow(there.recall), [percent(there.f1)]);
      return h('tr', {}, h('th', { scope: 'row' }, row.name), ...cells.map((cell) => h('td', { class: 'number' }, ...cell)));
    })),
  );
}

export function confusionList(matrix: Matrix, show: (row: number, column: number) => void): HTMLElement {
  const top = topConfusions(matrix, 12);
  if (top.length === 0) return h('p', {}, 'No class was taken for another.');
  return h('ol', { class: 'confusion-top' }, ...top.map(({ actual, predicted, count }) =>
    h('li', {}, h('button', { class: 'quiet', title: cellInWords(matrix, actual, predicted), onclick: () => show(actual, predicted) },
      `${matrix.rows[actual]!.name} → ${matrix.rows[predicted]!.name}: ${count} (${percent(count / matrix.rows[actual]!.actual)})`))));
}

export function matrixTable(matrix: Matrix, order: readonly number[]): HTMLElement {
  const size = matrix.rows.length;
  if (size * size > MOST_CELLS) return h('p', {}, `A table of ${size} classes is too large to read; export it as CSV.`);
  return h(
    'div',
    { class: 'confusion-scroll', tabindex: '0', role: 'group', 'aria-label': 'The matrix as a table' },
    h('table', { class: 'table' },
      h('caption', {}, 'Counts: labels in rows, predictions in columns'),
      h('thead', {}, h('tr', {}, h('td', {}), ...order.map((place) => h('th', { scope: 'col', class: 'number' }, matrix.rows[place]!.name)))),
      h('tbody', {}, ...order.map((row) => h('tr', {}, h('th', { scope: 'row' }, matrix.rows[row]!.name),
        ...order.map((column) => h('td', { class: 'number' }, matrix.counts[row * size + column]!)))))),
  );
}
