// HistogramAxis: the columns of a histogram's drawing. By logarithm they are the bins themselves, with one for zero between
// the signs; linear ones have equal widths, and what a bin holds is spread evenly over them.
import { short } from '../../draw/numbers';
import { linearScale } from '../../draw/scales';

import { LIMITS } from './dtype_limits';

export interface Histograms {
  steps: Float64Array;
  lower: Float64Array;
  upper: Float64Array;
  counts: Float64Array; // steps x bins
  zeros: Float64Array;
  tiny: Float64Array;
  nan: Float64Array;
  positiveInf: Float64Array;
  negativeInf: Float64Array;
}

/** Columns of a drawing: the bins, and one for elements at zero between the signs (or at the end of one). */
export interface Columns {
  count: number;
  /** Of the column at zero. */
  zero: number;
  of(bin: number): number;
}

export function columnsOf(histograms: Histograms): Columns {
  let negative = 0;
  while (negative < histograms.lower.length && histograms.upper[negative]! <= 0) ++negative;
  return { count: histograms.lower.length + 1, zero: negative, of: (bin) => (bin < negative ? bin : bin + 1) };
}

/** The place of a number among the columns; null outside of them. */
export function placeOf(histograms: Histograms, value: number): number | null {
  const columns = columnsOf(histograms);
  for (let bin = 0; bin < histograms.lower.length; ++bin) {
    const [low, high] = [histograms.lower[bin]!, histograms.upper[bin]!];
    if (value < low || value > high) continue;
    return columns.of(bin) + Math.log(value / low) / Math.log(high / low);
  }
  return null;
}

/** Limits of the small types within the columns, from left to right. */
export function guidesOf(histograms: Histograms): { place: number; word: string }[] {
  const guides = LIMITS.flatMap(({ dtype, largest, smallestNormal }) =>
    ([[largest, 'max'], [smallestNormal, 'min']] as const).flatMap(([value, word]) =>
      [value, -value].map((signed) => ({ place: placeOf(histograms, signed), word: `${dtype.replace('float', 'fp')} ${word}` }))));
  return guides.filter((guide): guide is { place: number; word: string } => guide.place !== null).sort((a, b) => a.place - b.place);
}

/** How many elements lie in each column. */
export function rowOf(histograms: Histograms, row: number): Float64Array {
  const columns = columnsOf(histograms);
  const bins = histograms.lower.length;
  const values = new Float64Array(columns.count);
  for (let bin = 0; bin < bins; ++bin) values[columns.of(bin)] = histograms.counts[row * bins + bin]!;
  values[columns.zero] = histograms.zeros[row]! + histograms.tiny[row]!;
  return values;
}

export interface HistogramAxis {
  /** How many columns. */
  count: number;
  /** The elements in each column. */
  row(row: number): Float64Array;
  /** What lies in a column, in words. */
  limits(column: number): string;
  /** In columns. */
  ticks(across: number): { place: number; text: string }[];
  guides: { place: number; word: string }[];
}

const TICK_WIDE = 110;
const ZERO_WIDE = 40; // around the word "0"

export function logAxis(histograms: Histograms): HistogramAxis {
  const columns = columnsOf(histograms);
  const bins = histograms.lower.length;
  return {
    count: columns.count,
    row: (row) => rowOf(histograms, row),
    limits(column) {
      if (column === columns.zero) return 'zero';
      const bin = column > columns.zero ? column - 1 : column;
      return `${short(histograms.lower[bin]!)} to ${short(histograms.upper[bin]!)}`;
    },
    ticks(across) {
      const about = Math.max(2, Math.floor(across / TICK_WIDE));
      const places = bins === 0 ? [] : Array.from({ length: about + 1 }, (_, i) => Math.round((i / about) * (bins - 1)));
      const ticks = places.map((bin) => ({ place: columns.of(bin), text: short(histograms.lower[bin]!, 2) }));
      const apart = (place: number) => Math.abs(place - columns.zero) * (across / columns.count);
      return [...ticks.filter(({ place }) => apart(place) > ZERO_WIDE), { place: columns.zero + 0.5, text: '0' }];
    },
    guides: guidesOf(histograms),
  };
}

const LINEAR_COLUMNS = 100;

/** From the lowest number that any step has to the highest, with 0 among them. */
function spanOf({ lower, upper, counts, steps }: Histograms): [number, number] {
  let [low, high] = [0, 0];
  for (let bin = 0; bin < lower.length; ++bin) {
    let any = false;
    for (let row = 0; row < steps.length && !any; ++row) any = counts[row * lower.length + bin]! > 0;
    if (any) [low, high] = [Math.min(low, lower[bin]!), Math.max(high, upper[bin]!)];
  }
  return high > low ? [low, high] : [-1, 1];
}

export function linearAxis(histograms: Histograms): HistogramAxis {
  const { lower, upper, counts, zeros, tiny } = histograms;
  const [low, high] = spanOf(histograms);
  const wide = (high - low) / LINEAR_COLUMNS;
  const held = (column: number) => Math.min(LINEAR_COLUMNS - 1, Math.max(0, column));
  return {
    count: LINEAR_COLUMNS,
    row(row) {
      const values = new Float64Array(LINEAR_COLUMNS);
      lower.forEach((from, bin) => {
        const many = counts[row * lower.length + bin]!;
        if (many > 0) spread(values, many, (from - low) / wide, (upper[bin]! - low) / wide);
      });
      values[held(Math.floor(-low / wide))]! += zeros[row]! + tiny[row]!;
      return values;
    },
    limits: (column) => `${short(low + column * wide)} to ${short(low + (column + 1) * wide)}`,
    ticks: (across) => linearScale(low, high).ticks(Math.max(2, Math.floor(across / TICK_WIDE))).map(({ place, text }) => ({ place: place * LINEAR_COLUMNS, text })),
    guides: [], // the limits of small types lie powers of ten apart
  };
}

/** Adds `many` to the columns from `from` to `to`, to each as much as it has of them. */
function spread(columns: Float64Array, many: number, from: number, to: number): void {
  const last = Math.min(columns.length - 1, Math.floor(to));
  for (let column = Math.max(0, Math.floor(from)); column <= last; ++column) {
    const part = Math.min(to, column + 1) - Math.max(from, column);
    if (part > 0) columns[column]! += (many * part) / (to - from);
  }
}
