// What is drawn over the lines: the cursor, where rules fired, and the numbers that are none.
import type UPlot from 'uplot';

import { nonFinite } from '../../draw/colours';
import type { Theme } from '../../draw/theme';
import { placeOf, placeOfPoint } from './axis';
import type { ChartLook } from './look';
import type { Series } from '../series';

export function drawMarks(plot: UPlot, all: readonly Series[], look: ChartLook, theme: Theme): void {
  if (all.length === 0) return;
  const { ctx } = plot;
  const pixel = window.devicePixelRatio || 1;
  ctx.save();
  ctx.lineWidth = pixel;
  for (const { step } of look.firings) drawUpright(plot, placeOf(all, look.line, step), theme.bad, [2 * pixel, 3 * pixel]);
  if (look.step !== null) drawUpright(plot, placeOf(all, look.line, look.step), theme.accent, []);
  ctx.setLineDash([]);
  ctx.font = `${11 * pixel}px sans-serif`;
  ctx.textAlign = 'center';
  for (const series of all) drawOddities(plot, series, look, pixel);
  ctx.restore();
}

function drawUpright({ ctx, bbox, valToPos }: UPlot, place: number | undefined, colour: string, dash: number[]): void {
  const left = place === undefined ? NaN : valToPos(place, 'x', true);
  if (!(left >= bbox.left && left <= bbox.left + bbox.width)) return;
  ctx.strokeStyle = colour;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(left, bbox.top);
  ctx.lineTo(left, bbox.top + bbox.height);
  ctx.stroke();
}

function drawOddities({ ctx, bbox, valToPos }: UPlot, series: Series, look: ChartLook, pixel: number): void {
  for (const { step, time, kind } of series.oddities) {
    const left = valToPos(placeOfPoint(series, look.line, step, time), 'x', true);
    if (!(left >= bbox.left && left <= bbox.left + bbox.width)) continue;
    ctx.fillStyle = kind === 'nan' ? nonFinite.nan : kind === 'positive_inf' ? nonFinite.positive : nonFinite.negative;
    const isTop = kind === 'positive_inf';
    ctx.fillText(kind === 'nan' ? '✕' : isTop ? '▲' : '▼', left, isTop ? bbox.top + 10 * pixel : bbox.top + bbox.height - 3 * pixel);
  }
}
