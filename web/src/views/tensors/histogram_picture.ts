// Draws histograms over steps: ridges with the newest in front, a heat map, or the bars of one step.
import { paint, viridis } from '../../draw/colours';
import type { Theme } from '../../draw/theme';

import type { HistogramAxis } from './histogram_axis';

export const LEFT = 60;
export const HEAD = 56;
export const FOOT = 60;
export const HEIGHT = 440;
const RIGHT = 28;
const RIDGE_HIGH = 52; // at least, where ridges are close: they overlap

export interface HistogramLook {
  axis: HistogramAxis;
  /** Which rows of the histograms, the newest last, and their steps. */
  rows: readonly number[];
  steps: ArrayLike<number>;
  drawing: 'ridge' | 'heat' | 'bars';
  /** Counts by logarithm? */
  logCounts: boolean;
  atCursor: number;
  pointed: { row: number; column: number } | null;
  theme: Theme;
}

export function acrossOf(width: number): number {
  return Math.max(width - LEFT - RIGHT, 1);
}

const DOWN = HEIGHT - FOOT - HEAD;

export function drawHistogram(context: CanvasRenderingContext2D, width: number, look: HistogramLook): void {
  const across = acrossOf(width);
  context.fillStyle = look.theme.ground;
  context.fillRect(0, 0, width, HEIGHT);
  const values = look.rows.map((row) => look.axis.row(row));
  const most = values.reduce((all, row) => row.reduce((a, b) => Math.max(a, b), all), 1);
  const heightOf = look.logCounts ? (value: number) => Math.log1p(value) / Math.log1p(most) : (value: number) => value / most;
  if (look.drawing === 'heat') drawHeat(context, values, heightOf, across);
  else drawRidges(context, look, values, heightOf, across);
  drawAxes(context, look, across);
  if (!look.pointed) return;
  context.strokeStyle = look.theme.text;
  context.lineWidth = 1;
  context.strokeRect(LEFT + (look.pointed.column / look.axis.count) * across, HEAD, across / look.axis.count, DOWN);
}

function drawHeat(context: CanvasRenderingContext2D, values: readonly Float64Array[], heightOf: (value: number) => number, across: number): void {
  const columns = values[0]!.length;
  const image = new ImageData(columns, values.length);
  values.forEach((row, y) => row.forEach((value, x) => {
    if (value > 0) paint(viridis(), heightOf(value), image.data, 4 * (y * columns + x));
  }));
  const small = document.createElement('canvas');
  small.width = columns;
  small.height = values.length;
  small.getContext('2d')?.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, LEFT, HEAD, across, DOWN);
}

/** Each covers what is older behind it; the older the paler. */
function drawRidges(context: CanvasRenderingContext2D, look: HistogramLook, values: readonly Float64Array[], heightOf: (value: number) => number, across: number): void {
  const { rows, theme, axis } = look;
  const each = DOWN / rows.length;
  const tall = rows.length === 1 ? DOWN : Math.min(Math.max(each * 2.5, RIDGE_HIGH), each + HEAD - 4);
  values.forEach((row, place) => {
    const base = HEAD + each * (place + 1);
    context.beginPath();
    context.moveTo(LEFT, base);
    row.forEach((value, column) => {
      const y = base - heightOf(value) * tall;
      context.lineTo(LEFT + (column / axis.count) * across, y);
      context.lineTo(LEFT + ((column + 1) / axis.count) * across, y);
    });
    context.lineTo(LEFT + across, base);
    context.closePath();
    context.fillStyle = rows.length === 1 ? theme.accent : theme.ground;
    context.fill();
    const isCursor = rows[place] === look.atCursor;
    context.globalAlpha = isCursor ? 1 : 0.4 + (0.6 * (place + 1)) / rows.length;
    context.strokeStyle = theme.accent;
    context.lineWidth = isCursor ? 2.5 : 1;
    context.stroke();
    context.globalAlpha = 1;
  });
}

function drawAxes(context: CanvasRenderingContext2D, { rows, steps, axis, theme }: HistogramLook, across: number): void {
  context.fillStyle = theme.text;
  context.font = '11px system-ui, sans-serif';
  context.textAlign = 'right';
  const every = Math.max(1, Math.ceil((rows.length * 14) / DOWN));
  rows.forEach((row, place) => {
    if ((rows.length - 1 - place) % every === 0) context.fillText(String(steps[row]), LEFT - 6, HEAD + (DOWN / rows.length) * (place + (rows.length === 1 ? 0.5 : 0.8)));
  });
  context.textAlign = 'center';
  const x = (column: number) => LEFT + (column / axis.count) * across;
  for (const { place, text } of axis.ticks(across)) context.fillText(text, x(place), HEAD + DOWN + 14);
  drawGuides(context, axis, x, theme.muted);
}

function drawGuides(context: CanvasRenderingContext2D, axis: HistogramAxis, x: (column: number) => number, colour: string): void {
  context.strokeStyle = colour;
  context.fillStyle = colour;
  context.setLineDash([4, 3]);
  context.lineWidth = 1;
  const ends: number[] = []; // of the labels in each line below
  for (const { place, word } of axis.guides) {
    context.beginPath();
    context.moveTo(x(place), HEAD);
    context.lineTo(x(place), HEAD + DOWN);
    context.stroke();
    const half = context.measureText(word).width / 2;
    const free = ends.findIndex((end) => end < x(place) - half - 4);
    const line = free < 0 ? ends.length : free;
    if (line > 2) continue; // no room; the table below has all of them
    ends[line] = x(place) + half;
    context.fillText(word, x(place), HEAD + DOWN + 28 + 12 * line);
  }
  context.setLineDash([]);
}

/** Which row is drawn at y. */
export function rowAt(y: number, rows: readonly number[]): number {
  const place = Math.floor(((y - HEAD) / DOWN) * rows.length);
  return rows[Math.min(rows.length - 1, Math.max(0, place))]!;
}
