// Draws the matrix on a canvas.
import { shortened, shown } from '../../data/text';
import type { Theme } from '../../draw/theme';
import type { CellPlace, MatrixLayout } from './layout';
import { shadingOf, type Shown } from './shading';

const FONT = '12px system-ui, sans-serif';

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

function drawCells(context: CanvasRenderingContext2D, layout: MatrixLayout, shownNow: Shown, empty: string): void {
  const shading = shadingOf(shownNow);
  const side = layout.cell - (layout.cell >= 8 ? 1 : 0);
  context.textAlign = 'center';
  shownNow.order.forEach((row, i) =>
    shownNow.order.forEach((column, j) => {
      const [x, y] = [layout.left + j * layout.cell, layout.top + i * layout.cell];
      const value = shading.value(row, column);
      const hidden = Number.isNaN(value);
      context.fillStyle = hidden ? empty : shading.colour(value);
      context.fillRect(x, y, side, side);
      if (hidden || !layout.numbers) return;
      context.fillStyle = shading.ink(value);
      context.fillText(shading.text(value), x + layout.cell / 2, y + layout.cell / 2);
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
