// Draws the map: cells, what is not finite as a pattern, names, steps, the cursors.
import type { Frame } from '../../draw/canvas';
import { nonFinite, paint, viridis } from '../../draw/colours';
import { count } from '../../draw/numbers';
import type { Theme } from '../../draw/theme';

import type { LayerMap } from './api';
import { type ColourRange, placesIn } from './colour_range';
import { columnAt, labelOf, type MapLayout, oddRuns } from './map_layout';
import type { MapWindow } from './map_window';
import type { Cell } from './words';

export const ZERO = '#8a8a8a';
const ZERO_LEVEL = 0x8a;
const LEAST_MARK = 3; // pixels that a mark is wide at least, however narrow its column
const TICK_WIDE = 110;
const CURSOR_RISE = 4; // how far the line of the step stands out above and below
export const NAME_GAP = 6; // between the name of a layer and its cells
export const MAP_FONT = '11px system-ui, sans-serif';

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
  window: MapWindow;
  theme: Theme;
  /** The time bar's step; null: it follows the newest. */
  step: number | null;
  pointed: Cell | null;
  /** What is being dragged over, in pixels. */
  dragged: { from: number; to: number } | null;
}

export function drawMap({ context }: Frame, look: MapLook): void {
  const high = look.map.layers.length * look.layout.rowHigh;
  drawPlot(context, look, high);
  clipped(context, look.layout, high, () => drawCursors(context, look, high));
  context.font = MAP_FONT;
  drawNames(context, look);
  drawSteps(context, look, look.layout.top + high);
}

/** The cells alone. */
export function drawPlot(context: CanvasRenderingContext2D, look: MapLook, high: number): void {
  const { layout, theme } = look;
  context.fillStyle = theme.surface;
  context.fillRect(layout.left, layout.top, layout.plotWidth, high);
  clipped(context, layout, high, () => {
    drawCells(context, look, high);
    drawOdd(context, look);
  });
}

/** What is zoomed in goes on beyond the edges. */
function clipped(context: CanvasRenderingContext2D, layout: MapLayout, high: number, draw: () => void): void {
  context.save();
  context.beginPath();
  context.rect(layout.left, layout.top - CURSOR_RISE, layout.plotWidth, high + 2 * CURSOR_RISE);
  context.clip();
  draw();
  context.restore();
}

export function columnX({ start, end }: MapWindow, layout: MapLayout, column: number): number {
  return layout.left + ((column - start) / Math.max(1e-9, end - start)) * layout.plotWidth;
}

function drawCells(context: CanvasRenderingContext2D, { cells, layout, window, dragged, theme }: MapLook, high: number): void {
  context.imageSmoothingEnabled = false;
  const [x, end] = [columnX(window, layout, 0), columnX(window, layout, cells?.width ?? 0)];
  if (cells) context.drawImage(cells, x, layout.top, end - x, high);
  if (!dragged) return;
  const [left, right] = [Math.min(dragged.from, dragged.to), Math.max(dragged.from, dragged.to)];
  context.fillStyle = theme.ground;
  context.globalAlpha = 0.6; // what is left out makes way
  context.fillRect(layout.left, layout.top, left - layout.left, high);
  context.fillRect(right, layout.top, layout.left + layout.plotWidth - right, high);
  context.globalAlpha = 1;
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

function drawOdd(context: CanvasRenderingContext2D, { map, layout, window }: MapLook): void {
  const columns = map.firstStep.length;
  for (const isNan of [false, true]) {
    context.fillStyle = stripes(context, isNan);
    const cells = [...map.odd].filter(([, odd]) => odd.nan > 0 === isNan).map(([cell]) => cell);
    for (const { row, from, to } of oddRuns(cells, columns)) {
      const [x, end] = [columnX(window, layout, from), columnX(window, layout, to)];
      context.fillRect(x, layout.top + row * layout.rowHigh, Math.max(end - x, LEAST_MARK), layout.rowHigh);
    }
  }
}

/** The layers that are named, with what fits. The pointed one is always named; its neighbours make room. */
export function nameMarks({ map, layout, pointed }: Pick<MapLook, 'map' | 'layout' | 'pointed'>): { text: string; row: number; y: number }[] {
  return map.layers.flatMap(({ name }, row) => {
    const nearPointed = pointed !== null && Math.abs(row - pointed.row) < layout.nameEvery;
    if (row !== pointed?.row && (row % layout.nameEvery !== 0 || nearPointed)) return [];
    return [{ text: labelOf(name, layout.nameLength), row, y: layout.top + (row + 0.5) * layout.rowHigh }];
  });
}

function drawNames(context: CanvasRenderingContext2D, look: MapLook): void {
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  for (const { text, row, y } of nameMarks(look)) {
    context.fillStyle = row === look.pointed?.row ? look.theme.accent : look.theme.text;
    context.fillText(text, look.layout.left - NAME_GAP, y);
  }
}

/** Where steps are written under the map: the words, how they stand to their place, and the place. */
export function stepMarks({ map, layout, window }: Pick<MapLook, 'map' | 'layout' | 'window'>): { text: string; align: 'left' | 'center' | 'right'; x: number }[] {
  const [first, last] = [Math.max(0, Math.floor(window.start)), Math.min(map.firstStep.length, Math.ceil(window.end)) - 1];
  if (last < first) return [];
  const ticks = Math.min(last - first, Math.max(1, Math.floor(layout.plotWidth / TICK_WIDE)));
  return Array.from({ length: ticks + 1 }, (_, i) => {
    const column = first + (ticks === 0 ? 0 : Math.round((i * (last - first)) / ticks));
    const isLast = i === ticks && ticks > 0;
    const step = isLast ? map.lastStep[column]! : map.firstStep[column]!;
    const x = columnX(window, layout, isLast ? last + 1 : i === 0 ? first : column + 0.5);
    const held = Math.min(layout.left + layout.plotWidth, Math.max(layout.left, x));
    return { text: `${i === 0 ? 'step ' : ''}${count(step)}`, align: isLast ? 'right' : i === 0 ? 'left' : 'center', x: held };
  });
}

function drawSteps(context: CanvasRenderingContext2D, look: MapLook, y: number): void {
  context.fillStyle = look.theme.muted;
  context.textBaseline = 'top';
  for (const { text, align, x } of stepMarks(look)) {
    context.textAlign = align;
    context.fillText(text, x, y + 6);
  }
}

function drawCursors(context: CanvasRenderingContext2D, { map, layout, window, theme, step, pointed }: MapLook, high: number): void {
  const column = step === null ? map.firstStep.length - 1 : columnAt(map.firstStep, step);
  const wide = layout.plotWidth / Math.max(1e-9, window.end - window.start);
  if (column >= 0) {
    const x = columnX(window, layout, column) + Math.max(0, wide / 2 - 1);
    outlined(context, theme.ground, theme.accent, x, layout.top - CURSOR_RISE, 2, high + 2 * CURSOR_RISE);
  }
  if (!pointed) return;
  const box = [
    columnX(window, layout, pointed.column) - 1, layout.top + pointed.row * layout.rowHigh - 0.5,
    Math.max(wide, LEAST_MARK) + 2, layout.rowHigh + 1,
  ] as const;
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
