// The matrix's numbers as they are shown: normalised, ordered, scaled.
import type { Arrays } from '../../data/safetensors';

export type Normalisation = 'counts' | 'rows' | 'columns' | 'all';
export type Order = 'number' | 'name' | 'actual' | 'recall' | 'precision' | 'f1';

export interface Interval {
  value: number;
  low: number;
  high: number;
}

export interface ClassRow {
  name: string;
  actual: number;
  predicted: number;
  hits: number;
  precision: Interval;
  recall: Interval;
  f1: number;
}

export interface Matrix {
  counts: Float64Array; // row-major; row: the label, column: the prediction
  rows: ClassRow[];
  numbers: Float64Array; // of the classes; NaN for the rest of them
  namesSource: string;
  samples: number;
  accuracy: Interval;
  folded: number;
  steps: number;
  countedSteps: number;
  firstStep: number;
  lastStep: number;
  unfitSteps: number;
  firstProblem: string;
}

function asNumber(value: number | string): number {
  return typeof value === 'number' ? value : NaN;
}

export function matrixOf(arrays: Arrays): Matrix {
  const names = arrays.json<string[]>('names') ?? [];
  const columns = arrays.json<string[]>('columns') ?? [];
  const table = arrays.f64('numbers');
  const rows = names.map((name, i): ClassRow => {
    const at = (column: string) => table[i * columns.length + columns.indexOf(column)]!;
    const interval = (column: string) => ({ value: at(column), low: at(`${column}_low`), high: at(`${column}_high`) });
    return { name, actual: at('actual'), predicted: at('predicted'), hits: at('hits'), precision: interval('precision'), recall: interval('recall'), f1: at('f1') };
  });
  const word = (name: string) => arrays.json<number>(name) ?? 0;
  const [value, low, high] = arrays.json<[number | string, number, number]>('accuracy') ?? [NaN, 0, 1];
  return {
    counts: arrays.f64('counts'), rows, numbers: arrays.f64('classes'), namesSource: arrays.metadata['names_source'] ?? '',
    samples: word('samples'), accuracy: { value: asNumber(value), low, high }, folded: word('folded_classes'),
    steps: word('steps'), countedSteps: word('counted_steps'), firstStep: word('first_step'), lastStep: word('last_step'),
    unfitSteps: word('unfit_steps'), firstProblem: arrays.metadata['first_problem'] ?? '',
  };
}

/** The number of a cell under a normalisation: a count, or a share of its row, its column or of all. NaN of nothing. */
export function cellValue(matrix: Matrix, row: number, column: number, by: Normalisation): number {
  const counted = matrix.counts[row * matrix.rows.length + column]!;
  switch (by) {
    case 'counts': return counted;
    case 'rows': return counted / matrix.rows[row]!.actual;
    case 'columns': return counted / matrix.rows[column]!.predicted;
    case 'all': return counted / matrix.samples;
  }
}

function sortKey(matrix: Matrix, place: number, by: Order): number {
  const row = matrix.rows[place]!;
  switch (by) {
    case 'actual': return -row.actual;
    case 'recall': return row.recall.value;
    case 'precision': return row.precision.value;
    case 'f1': return row.f1;
    default: return matrix.numbers[place]!;
  }
}

/** The classes' places in the order in which they are shown. The rest of all classes stays last. */
export function ordered(matrix: Matrix, by: Order): number[] {
  const rest = (place: number) => (Number.isNaN(matrix.numbers[place]!) ? 1 : 0);
  const compared = (a: number, b: number) => {
    if (by === 'name') return matrix.rows[a]!.name.localeCompare(matrix.rows[b]!.name, 'en', { numeric: true });
    const [x, y] = [sortKey(matrix, a, by), sortKey(matrix, b, by)];
    if (Number.isNaN(x) || Number.isNaN(y)) return (Number.isNaN(x) ? 1 : 0) - (Number.isNaN(y) ? 1 : 0); // of nothing: last
    return x - y;
  };
  return matrix.rows.map((_, i) => i).sort((a, b) => rest(a) - rest(b) || compared(a, b) || a - b);
}

export interface Colouring {
  normalisation: Normalisation;
  logarithmic: boolean;
  hideDiagonal: boolean;
}

/** The largest number that is coloured: that of the scale's end. */
export function scaleEnd(matrix: Matrix, { normalisation, hideDiagonal }: Colouring): number {
  let end = 0;
  const size = matrix.rows.length;
  for (let i = 0; i < size; ++i) {
    for (let j = 0; j < size; ++j) {
      if (hideDiagonal && i === j) continue;
      const value = cellValue(matrix, i, j, normalisation);
      if (value > end) end = value;
    }
  }
  return end;
}

/** The place of a number on the colour scale, in [0, 1]. On the logarithmic one a single sample is visible beside thousands. */
export function placeOnScale(value: number, end: number, logarithmic: boolean): number {
  if (!(value > 0) || !(end > 0)) return 0;
  if (!logarithmic) return value / end;
  const least = end > 1 ? 1 : end * 1e-4;
  return Math.min(1, Math.max(0.1, 0.1 + (0.9 * Math.log(value / least)) / Math.log(end / least)));
}

export interface Confused {
  actual: number;
  predicted: number;
  count: number;
}

/** The pairs of classes that are confused most often. */
export function topConfusions(matrix: Matrix, most: number): Confused[] {
  const size = matrix.rows.length;
  const found: Confused[] = [];
  for (let actual = 0; actual < size; ++actual) {
    for (let predicted = 0; predicted < size; ++predicted) {
      const counted = matrix.counts[actual * size + predicted]!;
      if (actual !== predicted && counted > 0) found.push({ actual, predicted, count: counted });
    }
  }
  return found.sort((a, b) => b.count - a.count || a.actual - b.actual || a.predicted - b.predicted).slice(0, most);
}

export function percent(value: number): string {
  return Number.isNaN(value) ? '–' : `${(100 * value).toFixed(1)} %`;
}

export function withInterval({ value, low, high }: Interval): string {
  return Number.isNaN(value) ? '–' : `${percent(value)} (${(100 * low).toFixed(1)}–${(100 * high).toFixed(1)})`;
}

/** One cell with every number of it. */
export function cellInWords(matrix: Matrix, row: number, column: number): string {
  const [actual, predicted] = [matrix.rows[row]!, matrix.rows[column]!];
  const counted = matrix.counts[row * matrix.rows.length + column]!;
  const what = row === column ? `${actual.name} taken for itself` : `${actual.name} taken for ${predicted.name}`;
  return `${what}: ${counted} of ${matrix.samples} samples, ${percent(counted / actual.actual)} of the label's ${actual.actual}, ${percent(counted / predicted.predicted)} of the prediction's ${predicted.predicted}`;
}

/** Behind the words of a cell: what another matrix has there. */
export function changeInWords(matrix: Matrix, other: Matrix, row: number, column: number): string {
  const count = other.counts[row * other.rows.length + column]!;
  const share = cellValue(other, row, column, 'rows');
  const points = 100 * (cellValue(matrix, row, column, 'rows') - share);
  const change = Number.isNaN(points) ? '' : `: ${points < 0 ? '−' : '+'}${Math.abs(points).toFixed(1)} points`;
  return `; in B ${count} of ${other.samples}, ${percent(share)} of the label's ${other.rows[row]!.actual}${change}`;
}

export function summaryOf(matrix: Matrix): string {
  const steps = matrix.countedSteps === 1 ? `step ${matrix.lastStep}` : `${matrix.countedSteps} steps from ${matrix.firstStep} to ${matrix.lastStep}`;
  const top = topConfusions(matrix, 3).map(({ actual, predicted, count }) => `${matrix.rows[actual]!.name} for ${matrix.rows[predicted]!.name} (${count})`);
  const confused = top.length > 0 ? ` Taken most often: ${top.join(', ')}.` : ' No class was taken for another.';
  return `Accuracy ${withInterval(matrix.accuracy)} over ${matrix.samples} samples of ${matrix.rows.length} classes, ${steps}.${confused}`;
}
