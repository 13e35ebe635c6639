// Draws the matrix on a canvas.
import { shortened, shown } from '../../data/text';
import { colourAt, inkOn, viridis } from '../../draw/colours';
import type { Theme } from '../../draw/theme';
import type { CellPlace, MatrixLayout } from './layout';
import { cellValue, placeOnScale, scaleEnd, type Colouring, type Matrix } from './matrix';

export interface Shown {
  matrix: Matrix;
  order: number[];
  colouring: Colouring;
}

const FONT = '12px system-ui, sans-serif';

/** A number within a cell: a count, or a share in percent. */
export function cellText(value: number, colouring: Colouring): string {
  if (Number.isNaN(value)) return '';
  if (colouring.normalisation === 'counts') return value >= 10000 ? `${Math.round(value / 1000)}k` : String(value);
  return value === 0 ? '0' : (100 * value).toFixed(value >= 0.995 ? 0 : 1);
}

export function drawMatrix(context: CanvasRenderingContext2D, layout: MatrixLayout, shownNow: Shown, cell: CellPlace | null, theme: Theme): void {
  context.font = FONT;
  context.textBaseline = 'middle';
  drawCells(context, layout, shownNow, theme.surface);
  drawAxes(context, layout, theme.muted);
  if (layout.labels) drawNames(context, layout, shownNow, theme.text);
  if (!cell) return;
  context.strokeStyle = theme.text;
  context.lineWidth = 2;
  context.strokeRect(layout.left + cell.column * layout.cell, layout.top + cell.row * layout.cell, layout.cell, layout.cell);
}

function drawCells(context: CanvasRenderingContext2D, layout: MatrixLayout, { matrix, order, colouring }: Shown, empty: string): void {
  const end = scaleEnd(matrix, colouring);
  const lut = viridis();
  const side = layout.cell - (layout.cell >= 8 ? 1 : 0);
  context.textAlign = 'center';
  order.forEach((row, i) =>
    order.forEach((column, j) => {
      const [x, y] = [layout.left + j * layout.cell, layout.top + i * layout.cell];
      const value = cellValue(matrix, row, column, colouring.normalisation);
      const hidden = (colouring.hideDiagonal && row === column) || Number.isNaN(value);
      const place = placeOnScale(value, end, colouring.logarithmic);
      context.fillStyle = hidden ? empty : colourAt(lut, place);
      context.fillRect(x, y, side, side);
      if (hidden || !layout.numbers) return;
      context.fillStyle = inkOn(lut, place);
      context.fillText(cellText(value, colouring), x + layout.cell / 2, y + layout.cell / 2);
    }),
  );
}

/** A text that is read from below. */
function upright(context: CanvasRenderingContext2D, text: string, x: number, y: number, align: CanvasTextAlign): void {
  context.save();
  context.translate(x, y);
  context.rotate(-Math.PI / 2);
  context.textAlign = align;
  context.fillText(text, 0, 0);
  context.restore();
}

function drawAxes(context: CanvasRenderingContext2D, layout: MatrixLayout, ink: string): void {
  context.fillStyle = ink;
  context.textAlign = 'left';
  context.fillText('prediction →', layout.left, 8);
  upright(context, '← label', 8, layout.top, 'right');
}

function drawNames(context: CanvasRenderingContext2D, layout: MatrixLayout, { matrix, order }: Shown, ink: string): void {
  context.fillStyle = ink;
  order.forEach((place, i) => {
    const name = shown(shortened(matrix.rows[place]!.name, 12));
    const middle = (i + 0.5) * layout.cell;
    context.textAlign = 'right';
    context.fillText(name, layout.left - 6, layout.top + middle);
    upright(context, name, layout.left + middle, layout.top - 6, 'left');
  });
}
