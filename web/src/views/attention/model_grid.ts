// Where the model view puts the picture of each head: in rows of layers, or one after another with captions.
import type { Place } from './model_order';

const LEAST_PX = 34;
const MOST_PX = 240;
const MARGIN_PX = 22; // for the numbers of layers and heads, where heads are in rows of layers
export const CAPTION_PX = 16;

/** Heads one after another are about so large, where there are many. */
const USUAL_PX = 72;

export interface Grid {
  columns: number;
  rows: number;
  cell: number;
  /** Captions below the pictures: where heads are not in rows of layers. */
  captions: boolean;
}

/** What there is room for; pictures that do not fit are scrolled to. */
export interface Room {
  width: number;
  height: number;
}

function held(px: number): number {
  return Math.min(MOST_PX, Math.max(LEAST_PX, Math.floor(px)));
}

export function gridOfLayers(layers: number, heads: number, room: Room): Grid {
  const columns = Math.max(1, heads);
  const cell = held(Math.min((room.width - MARGIN_PX) / columns, (room.height - MARGIN_PX) / Math.max(1, layers)));
  return { columns, rows: layers, cell, captions: false };
}

/** The largest pictures of which all fit into the room; where none do, those of the usual size. */
export function gridOfHeads(count: number, room: Room): Grid {
  for (let cell = MOST_PX; cell >= USUAL_PX; cell -= 4) {
    const columns = Math.max(1, Math.floor(room.width / cell));
    const rows = Math.ceil(count / columns);
    if (rows * (cell + CAPTION_PX) <= room.height) return { columns: Math.min(columns, Math.max(1, count)), rows, cell, captions: true };
  }
  const columns = Math.max(1, Math.min(count, Math.floor(room.width / USUAL_PX)));
  return { columns, rows: Math.ceil(count / columns), cell: held(room.width / columns), captions: true };
}

export function marginOf(grid: Grid): number {
  return grid.captions ? 4 : MARGIN_PX;
}

export function sizeOf(grid: Grid): Room {
  const margin = marginOf(grid);
  return { width: margin + grid.columns * grid.cell, height: margin + grid.rows * (grid.cell + (grid.captions ? CAPTION_PX : 0)) };
}

export function cellAt(grid: Grid, slot: number): [x: number, y: number] {
  const height = grid.cell + (grid.captions ? CAPTION_PX : 0);
  const margin = marginOf(grid);
  return [margin + (slot % grid.columns) * grid.cell, margin + Math.floor(slot / grid.columns) * height];
}

/** Which of the grid's places a head has; `index`: its place in the order. */
export function slotOf(grid: Grid, place: Place, index: number): number {
  return grid.captions ? index : place.layer * grid.columns + place.head;
}
