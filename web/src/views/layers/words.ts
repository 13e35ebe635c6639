// The map in words: one cell, all of it, how far it was read.
import { count, exact } from '../../draw/numbers';

import type { LayerMap } from './api';
import { type Quantity, textOf } from './quantities';

export interface Cell {
  row: number;
  column: number;
}

function stepsText(map: LayerMap, column: number): string {
  const [first, last] = [map.firstStep[column]!, map.lastStep[column]!];
  return first === last ? `step ${count(first)}` : `steps ${count(first)} to ${count(last)}`;
}

export function oddText(map: LayerMap, { row, column }: Cell): string {
  const odd = map.odd.get(row * map.firstStep.length + column);
  if (!odd) return '';
  const kinds = [odd.nan > 0 ? `NaN at ${count(odd.nan)}` : '', odd.inf > 0 ? `Inf at ${count(odd.inf)}` : ''].filter(Boolean).join(', ');
  return `${kinds} of ${count(map.steps[column]!)} step${map.steps[column] === 1 ? '' : 's'}, first at step ${count(odd.step)}`;
}

function valueText(map: LayerMap, quantity: Quantity, { row, column }: Cell): string {
  const cell = row * map.firstStep.length + column;
  const value = map.max[cell]!;
  if (!Number.isNaN(value)) {
    const number = quantity.isShare ? textOf(quantity, value) : exact(value);
    return map.steps[column]! > 1 ? `Max ${number} at step ${count(map.maxStep[cell]!)}` : number;
  }
  if (map.odd.has(cell)) return 'no finite number';
  return map.read[column] === 0 ? 'not read yet' : 'not kept here';
}

/** "blocks.0.conv1.weight, steps 100 to 109: Max 0.25 at step 103". */
export function cellText(map: LayerMap, quantity: Quantity, cell: Cell): string {
  const parts = [valueText(map, quantity, cell), oddText(map, cell)].filter(Boolean);
  return `${map.layers[cell.row]!.name}, ${stepsText(map, cell.column)}: ${parts.join('; ')}`;
}

/** Where a click leads: to what is not finite first, else to the largest. */
export function stepOfCell(map: LayerMap, { row, column }: Cell): number {
  const cell = row * map.firstStep.length + column;
  const odd = map.odd.get(cell);
  if (odd) return odd.step;
  return map.maxStep[cell]! >= 0 ? map.maxStep[cell]! : map.lastStep[column]!;
}

/** The cell of the first step that is not finite; of several layers the one nearest to the cause: gradients come from the end. */
export function firstOdd(map: LayerMap): (Cell & { step: number }) | undefined {
  const columns = map.firstStep.length;
  const fromEnd = map.about.collection === 'gradients';
  const cells = [...map.odd.keys()].sort((a, b) => (fromEnd ? b - a : a - b));
  let best: number | undefined;
  for (const cell of cells) if (best === undefined || map.odd.get(cell)!.step < map.odd.get(best)!.step) best = cell;
  return best === undefined ? undefined : { row: Math.floor(best / columns), column: best % columns, step: map.odd.get(best)!.step };
}

export function oddSummary(map: LayerMap): string {
  if (map.odd.size === 0) return '';
  const rows = new Set([...map.odd.keys()].map((cell) => Math.floor(cell / map.firstStep.length)));
  const first = firstOdd(map)!;
  const same = [...map.odd].filter(([, { step }]) => step === first.step).length;
  const others = same > 1 ? ` and ${count(same - 1)} other${same === 2 ? '' : 's'}` : '';
  return `NaN or Inf in ${count(rows.size)} of ${count(map.layers.length)} layers, first at step ${count(first.step)} in ${map.layers[first.row]!.name}${others}`;
}

export function readText(map: LayerMap): string {
  const { left, steps, unreadable, left_out } = map.about;
  const parts = [
    left > 0 ? `Read ${count(steps - left)} of ${count(steps)} steps so far, from everywhere; paler columns are still to be read.` : '',
    unreadable > 0 ? `${count(unreadable)} numbers are damaged and left out.` : '',
    left_out > 0 ? `${count(left_out)} layers beyond the first ${count(map.layers.length)} are left out.` : '',
  ];
  return parts.filter(Boolean).join(' ');
}

/** For those who do not see it. */
export function mapText(map: LayerMap, quantity: Quantity, ends: [string, string] | undefined): string {
  const columns = map.firstStep.length;
  const where = `${count(map.layers.length)} layers over steps ${count(map.firstStep[0] ?? 0)} to ${count(map.lastStep[columns - 1] ?? 0)}`;
  return [`${quantity.title} of ${where}`, ends ? `from ${ends[0]} to ${ends[1]}` : '', oddSummary(map)].filter(Boolean).join('; ');
}
