// Beside the pictures of heads in rows of layers: numbers of layers and heads, and which heads share a key.
import type { LayerInfo } from './api';
import { type Grid, marginOf } from './model_grid';

/** How many heads share a key. */
export function sharedBy(layer: LayerInfo | undefined): number {
  return layer && layer.key_value_heads > 0 ? layer.heads / layer.key_value_heads : 1;
}

export function paintMargins(context: CanvasRenderingContext2D, grid: Grid, layers: readonly LayerInfo[], line: string): void {
  const { cell } = grid;
  const margin = marginOf(grid);
  for (let row = 0; row < grid.rows; row++) context.fillText(String(row), 4, margin + row * cell + cell / 2 + 4);
  for (let column = 0; column < grid.columns; column++) context.fillText(String(column), margin + column * cell + 2, 12);
  context.strokeStyle = line;
  context.lineWidth = 2;
  layers.forEach((layer, row) => paintBrackets(context, grid, row, layer));
}

/** Lines below heads that share a key. */
function paintBrackets(context: CanvasRenderingContext2D, grid: Grid, row: number, layer: LayerInfo): void {
  const [share, margin] = [sharedBy(layer), marginOf(grid)];
  const y = margin + (row + 1) * grid.cell - 1.5;
  for (let first = 0; share > 1 && first < layer.heads; first += share) {
    context.beginPath();
    context.moveTo(margin + first * grid.cell, y);
    context.lineTo(margin + Math.min(layer.heads, first + share) * grid.cell - 5, y);
    context.stroke();
  }
}
