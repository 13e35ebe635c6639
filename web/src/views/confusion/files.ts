// The matrix as files.
import { shortened } from '../../data/text';
import { csvOf, npyOf } from '../../draw/files';
import { SvgWriter } from '../../draw/svg';
import { summaryOf } from './matrix';
import { shadingOf, type Shown } from './shading';

export function matrixAsCsv({ matrix, order }: Shown): Blob {
  const size = matrix.rows.length;
  return csvOf([
    ['label \\ prediction', ...order.map((place) => matrix.rows[place]!.name), 'precision', 'precision_low', 'precision_high', 'recall', 'recall_low', 'recall_high', 'f1'],
    ...order.map((place) => {
      const { name, precision, recall, f1 } = matrix.rows[place]!;
      const cells = order.map((column) => matrix.counts[place * size + column]!);
      return [name, ...cells, precision.value, precision.low, precision.high, recall.value, recall.low, recall.high, f1];
    }),
  ]);
}

/** The counts in the order of the classes' numbers. */
export function matrixAsNpy({ matrix }: Shown): Blob | undefined {
  const { counts, rows } = matrix;
  return npyOf('F64', [rows.length, rows.length], new Uint8Array(counts.buffer, counts.byteOffset, counts.byteLength));
}

const CELL = 32;
const ROOM = 120;

export function matrixAsSvg(shown: Shown): SvgWriter {
  const { matrix, order } = shown;
  const side = ROOM + order.length * CELL;
  const svg = new SvgWriter(Math.max(side + 10, 420), side + 40, summaryOf(matrix));
  const shading = shadingOf(shown);
  order.forEach((row, i) => {
    const name = shortened(matrix.rows[row]!.name, 16);
    const at = ROOM + (i + 0.5) * CELL;
    svg.text(ROOM - 6, at + 4, name, { 'text-anchor': 'end' });
    svg.text(0, 0, name, { transform: `translate(${at + 4} ${ROOM - 6}) rotate(-90)` });
    order.forEach((column, j) => {
      const value = shading.value(row, column);
      const hidden = Number.isNaN(value);
      svg.add('rect', { x: ROOM + j * CELL, y: ROOM + i * CELL, width: CELL - 1, height: CELL - 1, fill: hidden ? '#eeeeee' : shading.colour(value) });
      if (!hidden) svg.text(ROOM + (j + 0.5) * CELL, at + 4, shading.text(value), { 'text-anchor': 'middle', fill: shading.ink(value) });
    });
  });
  svg.text(10, side + 24, `Labels in rows, predictions in columns${shown.other ? '; the difference from B' : ''}`);
  return svg;
}
