// Where the cells of the matrix are on its picture.

export interface MatrixLayout {
  left: number;
  top: number;
  cell: number;
  size: number;
  labels: boolean;
  numbers: boolean;
}

export interface CellPlace {
  row: number;
  column: number;
}

const LABEL_FROM = 13; // pixels a cell needs for its class's name
const NUMBER_FROM = 30;
const LARGEST = 64;
const ROOM = 104; // for names
const EDGE = 18; // for the words "label" and "prediction"

export function layoutOf(width: number, height: number, size: number): MatrixLayout {
  const labels = Math.min(width - ROOM, height - ROOM) / size >= LABEL_FROM;
  const room = labels ? ROOM : EDGE;
  const fit = Math.max(0.5, Math.min(width - room, height - room) / size);
  const cell = Math.min(LARGEST, fit >= 2 ? Math.floor(fit) : fit);
  return { left: room, top: room, cell, size, labels, numbers: cell >= NUMBER_FROM };
}

/** The cell at a place of the picture, null beside the matrix. */
export function cellAt(layout: MatrixLayout, x: number, y: number): CellPlace | null {
  const column = Math.floor((x - layout.left) / layout.cell);
  const row = Math.floor((y - layout.top) / layout.cell);
  const inside = row >= 0 && column >= 0 && row < layout.size && column < layout.size;
  return inside ? { row, column } : null;
}

/** How high a picture of this width must be. */
export function heightFor(width: number, size: number): number {
  const layout = layoutOf(width, width, size);
  return Math.ceil(layout.top + layout.cell * size + 8);
}
