// The map as a table: a row for each layer.
import { h } from '../../draw/dom';
import { count } from '../../draw/numbers';

import type { LayerMap } from './api';
import { type Quantity, textOf } from './quantities';

export interface LayerRowNumbers {
  name: string;
  /** Of the newest column that has a finite number, NaN when none has. */
  last: number;
  max: number;
  maxStep: number;
  nan: number;
  inf: number;
  /** The first that is not finite, -1 when all are. */
  oddStep: number;
}

export function rowNumbers(map: LayerMap): LayerRowNumbers[] {
  const columns = map.firstStep.length;
  const rows = map.layers.map(({ name }): LayerRowNumbers => ({ name, last: NaN, max: NaN, maxStep: -1, nan: 0, inf: 0, oddStep: -1 }));
  rows.forEach((row, at) => {
    for (let column = 0; column < columns; ++column) {
      const value = map.max[at * columns + column]!;
      if (Number.isNaN(value)) continue;
      row.last = value;
      if (!(value <= row.max)) [row.max, row.maxStep] = [value, map.maxStep[at * columns + column]!];
    }
  });
  for (const [cell, odd] of map.odd) {
    const row = rows[Math.floor(cell / columns)]!;
    row.nan += odd.nan;
    row.inf += odd.inf;
    if (row.oddStep < 0 || odd.step < row.oddStep) row.oddStep = odd.step;
  }
  return rows;
}

const TITLES = ['Layer', 'Last', 'Max', 'at step', 'NaN steps', 'Inf steps', 'first at step'];

export function tableOf(map: LayerMap, quantity: Quantity): HTMLTableElement {
  const number = (text: string, bad = false) => h('td', { class: bad ? 'number bad' : 'number' }, text);
  const value = (x: number) => number(Number.isNaN(x) ? '' : textOf(quantity, x));
  const body = rowNumbers(map).map((row) => h('tr', {}, h('th', { scope: 'row' }, row.name), value(row.last), value(row.max),
    number(row.maxStep < 0 ? '' : count(row.maxStep)), number(count(row.nan), row.nan > 0), number(count(row.inf), row.inf > 0), number(row.oddStep < 0 ? '' : count(row.oddStep))));
  return h('table', { class: 'table' }, h('thead', {}, h('tr', {}, ...TITLES.map((title) => h('th', { scope: 'col' }, title)))), h('tbody', {}, ...body));
}

/** Layer by layer, a column for each column of the map. */
export function csvRows(map: LayerMap): (string | number)[][] {
  const columns = map.firstStep.length;
  const steps = Array.from(map.firstStep, (first, i) => (first === map.lastStep[i] ? `step ${first}` : `steps ${first} to ${map.lastStep[i]}`));
  const cell = (at: number) => {
    const odd = map.odd.get(at);
    const finite = Number.isNaN(map.max[at]!) ? '' : String(map.max[at]);
    return [finite, odd && odd.nan > 0 ? `NaN x ${odd.nan}` : '', odd && odd.inf > 0 ? `Inf x ${odd.inf}` : ''].filter(Boolean).join('; ');
  };
  return [['layer', ...steps], ...map.layers.map(({ name }, row) => [name, ...steps.map((_, column) => cell(row * columns + column))])];
}
