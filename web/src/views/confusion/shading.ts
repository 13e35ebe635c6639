// The text and the colour of a cell: a number of the matrix, or its difference from another one's.
import { blueOrange, colourAt, inkOn, viridis } from '../../draw/colours';
import { cellValue, placeOnScale, scaleEnd, type Colouring, type Matrix } from './matrix';

export interface Shown {
  matrix: Matrix;
  order: number[];
  colouring: Colouring;
  /** What it is compared with, its classes in the places of the matrix (alignedTo()). */
  other: Matrix | null;
}

export interface Shading {
  /** NaN where there is nothing to show. */
  value(row: number, column: number): number;
  text(value: number): string;
  colour(value: number): string;
  /** Of the text on that colour. */
  ink(value: number): string;
}

/** A count, or a share in percent. */
function numberText(value: number, counts: boolean): string {
  if (Number.isNaN(value)) return '';
  const size = Math.abs(value);
  const sign = value < 0 ? '−' : '';
  if (counts) return sign + (size >= 10000 ? `${Math.round(size / 1000)}k` : String(size));
  return size === 0 ? '0' : sign + (100 * size).toFixed(size >= 0.995 ? 0 : 1);
}

function plainShading({ matrix, colouring }: Shown): Shading {
  const end = scaleEnd(matrix, colouring);
  const place = (value: number) => placeOnScale(value, end, colouring.logarithmic);
  return {
    value: (row, column) => (colouring.hideDiagonal && row === column ? NaN : cellValue(matrix, row, column, colouring.normalisation)),
    text: (value) => numberText(value, colouring.normalisation === 'counts'),
    colour: (value) => colourAt(viridis(), place(value)),
    ink: (value) => inkOn(viridis(), place(value)),
  };
}

/** Orange: more here than there. The colours of no difference are in the middle. */
function differenceShading({ matrix, colouring }: Shown, other: Matrix): Shading {
  const by = colouring.normalisation;
  const value = (row: number, column: number) =>
    colouring.hideDiagonal && row === column ? NaN : cellValue(matrix, row, column, by) - cellValue(other, row, column, by);
  let end = 0;
  matrix.rows.forEach((_, row) => matrix.rows.forEach((__, column) => (end = Math.max(end, Math.abs(value(row, column)) || 0))));
  const place = (difference: number) => 0.5 + (end > 0 ? difference / (2 * end) : 0);
  const plus = (difference: number) => (difference > 0 ? '+' : '');
  return {
    value,
    text: (difference) => plus(difference) + numberText(difference, by === 'counts'),
    colour: (difference) => colourAt(blueOrange(), place(difference)),
    ink: (difference) => inkOn(blueOrange(), place(difference)),
  };
}

export function shadingOf(shown: Shown): Shading {
  return shown.other ? differenceShading(shown, shown.other) : plainShading(shown);
}

/** The other matrix with its classes, by name, in the places of this one; `missing` of its classes are none of this one's. */
export function alignedTo(matrix: Matrix, other: Matrix): { aligned: Matrix; missing: number } {
  const size = matrix.rows.length;
  const places = matrix.rows.map(({ name }) => other.rows.findIndex((row) => row.name === name));
  const counts = new Float64Array(size * size);
  for (let i = 0; i < size; ++i) {
    for (let j = 0; j < size; ++j) {
      if (places[i]! >= 0 && places[j]! >= 0) counts[i * size + j] = other.counts[places[i]! * other.rows.length + places[j]!]!;
    }
  }
  const nothing = { value: NaN, low: 0, high: 1 };
  const rows = matrix.rows.map(({ name }, i) => other.rows[places[i]!] ?? { name, actual: 0, predicted: 0, hits: 0, precision: nothing, recall: nothing, f1: NaN });
  const found = places.filter((place) => place >= 0).length;
  return { aligned: { ...other, counts, rows, numbers: matrix.numbers }, missing: other.rows.length - found };
}
