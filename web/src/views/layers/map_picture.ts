// Draws the map: cells, what is not finite as a pattern, names, steps, the cursors.
import type { Frame } from '../../draw/canvas';
import { nonFinite, paint, viridis } from '../../draw/colours';
import { count } from '../../draw/numbers';
import type { Theme } from '../../draw/theme';

import type { LayerMap } from './api';
import { type ColourRange, placesIn } from './colour_range';
import { columnAt, labelOf, type MapLayout, oddRuns } from './map_layout';
import type { Cell } from './words';

export const ZERO = '#8a8a8a';
const ZERO_LEVEL = 0x8a;
const LEAST_MARK = 3; // pixels that a mark is wide at least, however narrow its column
const TICK_WIDE = 110;

const BETWEEN = 96; // of 255: how much of a colour has a column that was not read yet

/** Which column each one is painted as: while it is not read, as the last before it that is; -1 where there is none. */
export function paintedAs(read: ArrayLike<number>): Int32Array {
  let last = -1;
  return Int32Array.from({ length: read.length }, (_, column) => (last = read[column]! > 0 ? column : last));
}

/** One pixel a cell; made once for a map and its colours, and stretched at each drawing. */
export function cellsOf(map: LayerMap, range: ColourRange): HTMLCanvasElement | null {
  const [columns, rows] = [map.firstStep.length, map.layers.length];
  const canvas = document.createElement('canvas');
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext('2d');
  if (!context || columns * rows === 0) return null;
  const image = new ImageData(columns, rows);
  const sources = paintedAs(map.read);
  const placeOf = placesIn(range);
  const lut = viridis();
  for (let row = 0; row < rows; ++row) {
    for (let column = 0, cell = row * columns; column < columns; ++column, ++cell) {
      const source = sources[column]!;
      const value = source < 0 ? NaN : map.max[row * columns + source]!;
      if (Number.isNaN(value)) continue;
      const place = placeOf(value);
      if (Number.isNaN(place)) image.data.set([ZERO_LEVEL, ZERO_LEVEL, ZERO_LEVEL, 255], 4 * cell);
      else paint(lut, place, image.data, 4 * cell);
      if (source !== column) image.data[4 * cell + 3] = BETWEEN;
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

export interface MapLook {
  map: LayerMap;
  cells: HTMLCanvasElement | null;
  layout: MapLayout;
  theme: Theme;
  /** The time bar's step; null: it follows the newest. */
  step: number | null;
  pointed: Cell | null;
}

export function drawMap({ context }: Frame, look: MapLook): void {
  const { map, cells, layout, theme } = look;
  const high = map.layers.length * layout.rowHigh;
  context.fillStyle = theme.surface;
  context.fillRect(layout.left, layout.top, layout.plotWidth, high);
  context.imageSmoothingEnabled = false;
  if (cells) context.drawImage(cells, layout.left, layout.top, layout.plotWidth, high);
  drawOdd(context, look);
  context.font = '11px system-ui, sans-serif';
  drawNames(context, look);
  drawSteps(context, look, layout.top + high);
  drawCursors(context, look, high);
}

export function columnX(map: LayerMap, layout: MapLayout, column: number): number {
  return layout.left + (column / Math.max(1, map.firstStep.length)) * layout.plotWidth;
}

/** Stripes, so that no colour alone says it: one way for NaN, the other for infinities alone. */
export function stripes(context: CanvasRenderingContext2D, isNan: boolean): CanvasPattern | string {
  const tile = document.createElement('canvas');
  tile.width = tile.height = 6;
  const at = tile.getContext('2d');
  if (!at) return isNan ? nonFinite.nan : nonFinite.positive;
  at.fillStyle = isNan ? nonFinite.nan : nonFinite.positive;
  at.fillRect(0, 0, 6, 6);
  at.fillStyle = '#fff';
  for (let i = 0; i < 6; ++i) at.fillRect(isNan ? i : 5 - i, i, 1.5, 1);
  return context.createPattern(tile, 'repeat') ?? nonFinite.nan;
}

function drawOdd(context: CanvasRenderingContext2D, { map, layout }: MapLook): void {
  const columns = map.firstStep.length;
  for (const isNan of [false, true]) {
    context.fillStyle = stripes(context, isNan);
    const cells = [...map.odd].filter(([, odd]) => odd.nan > 0 === isNan).map(([cell]) => cell);
    for (const { row, from, to } of oddRuns(cells, columns)) {
      const [x, end] = [columnX(map, layout, from), columnX(map, layout, to)];
      context.fillRect(x, layout.top + row * layout.rowHigh, Math.max(end - x, LEAST_MARK), layout.rowHigh);
    }
  }
}

function drawNames(context: CanvasRenderingContext2D, { map, layout, theme, pointed }: MapLook): void {
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  map.layers.forEach(({ name }, row) => {
    const isPointed = row === pointed?.row;
    // The pointed one is always named; its neighbours make room.
    const nearPointed = pointed !== null && Math.abs(row - pointed.row) < layout.nameEvery;
    if (!isPointed && (row % layout.nameEvery !== 0 || nearPointed)) return;
    context.fillStyle = isPointed ? theme.accent : theme.text;
    context.fillText(labelOf(name, layout.nameLength), layout.left - 6, layout.top + (row + 0.5) * layout.rowHigh);
  });
}

function drawSteps(context: CanvasRenderingContext2D, { map, layout, theme }: MapLook, y: number): void {
  const columns = map.firstStep.length;
  if (columns === 0) return;
  context.fillStyle = theme.muted;
  context.textBaseline = 'top';
  const ticks = Math.min(columns - 1, Math.max(1, Math.floor(layout.plotWidth / TICK_WIDE)));
  for (let i = 0; i <= ticks; ++i) {
    const column = ticks === 0 ? 0 : Math.round((i * (columns - 1)) / ticks);
    context.textAlign = i === 0 ? 'left' : i === ticks ? 'right' : 'center';
    const at = i === 0 ? 0 : i === ticks ? columns : column + 0.5;
    const step = i === ticks && ticks > 0 ? map.lastStep[column]! : map.firstStep[column]!;
    context.fillText(`${i === 0 ? 'step ' : ''}${count(step)}`, columnX(map, layout, at), y + 6);
  }
}

function drawCursors(context: CanvasRenderingContext2D, { map, layout, theme, step, pointed }: MapLook, high: number): void {
  const column = step === null ? map.firstStep.length - 1 : columnAt(map.firstStep, step);
  const wide = layout.plotWidth / Math.max(1, map.firstStep.length);
  if (column >= 0) {
    outlined(context, theme.ground, theme.accent, columnX(map, layout, column) + Math.max(0, wide / 2 - 1), layout.top - 4, 2, high + 8);
  }
  if (!pointed) return;
  const box = [columnX(map, layout, pointed.column) - 1, layout.top + pointed.row * layout.rowHigh - 0.5, Math.max(wide, LEAST_MARK) + 2, layout.rowHigh + 1] as const;
  for (const [colour, lineWidth] of [['#000', 3], ['#fff', 1.5]] as const) {
    context.strokeStyle = colour;
    context.lineWidth = lineWidth;
    context.strokeRect(...box);
  }
}

function outlined(context: CanvasRenderingContext2D, edge: string, colour: string, x: number, y: number, width: number, height: number): void {
  context.fillStyle = edge;
  context.fillRect(x - 1, y, width + 2, height);
  context.fillStyle = colour;
  context.fillRect(x, y, width, height);
}
