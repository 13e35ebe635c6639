// The chart as files.
import { categoryOf } from '../../draw/colours';
import { csvOf, fileName, npyOf } from '../../draw/files';
import { exact, short } from '../../draw/numbers';
import { SvgWriter } from '../../draw/svg';
import type { Snapshot } from '../view';
import { OTHER_DASH, type YScale } from './look';
import type { Series } from '../series';

/** Rows of what is shown: of buckets, their least and largest numbers. */
export function csvRows(run: string, all: readonly Series[]): (string | number)[][] {
  const rows: (string | number)[][] = [['run', 'series', 'of', 'step', 'unix_seconds', 'value']];
  for (const { words, step, time, value, oddities, other } of all) {
    const odd = new Map(oddities.map(({ step: at, kind }) => [at, kind]));
    const text = { nan: 'nan', positive_inf: 'inf', negative_inf: '-inf' };
    step.forEach((at, i) => {
      const kind = odd.get(at);
      rows.push([other?.run ?? run, words.name, words.of, at, time[i]!, kind && Number.isNaN(value[i]) ? text[kind] : exact(value[i]!)]);
    });
  }
  return rows;
}

export function csv(run: string, all: readonly Series[]): Snapshot {
  return { fileName: `${fileName(run, 'scalars')}.csv`, data: csvOf(csvRows(run, all)) };
}

/** Of the first series: float64 of shape [points, 2], step and value. */
export function npy(run: string, series: Series): Snapshot | undefined {
  const pairs = new Float64Array(2 * series.step.length);
  series.step.forEach((step, i) => pairs.set([step, series.value[i]!], 2 * i));
  const data = npyOf('F64', [series.step.length, 2], new Uint8Array(pairs.buffer));
  return data && { fileName: `${fileName(run, series.words.name)}.npy`, data };
}

const WIDTH = 900;
const HEIGHT = 420;
const FRAME = { left: 70, top: 16, right: 12, bottom: 40 };

export function svg(run: string, all: readonly Series[], y: YScale): Snapshot {
  const place = y === 'log' ? Math.log10 : y === 'symlog' ? Math.asinh : (value: number) => value;
  const finite = all.flatMap(({ value }) => [...value].map(place).filter(Number.isFinite));
  const [low, high] = [finite.reduce((a, b) => Math.min(a, b), Infinity), finite.reduce((a, b) => Math.max(a, b), -Infinity)];
  const first = Math.min(...all.map(({ step }) => step[0] ?? Infinity));
  const last = Math.max(...all.map(({ step }) => step.at(-1) ?? -Infinity));
  const px = (step: number) => FRAME.left + ((step - first) / (last - first || 1)) * (WIDTH - FRAME.left - FRAME.right);
  const py = (value: number) => HEIGHT - FRAME.bottom - ((place(value) - low) / (high - low || 1)) * (HEIGHT - FRAME.top - FRAME.bottom);
  const back = y === 'log' ? (x: number) => 10 ** x : y === 'symlog' ? Math.sinh : (x: number) => x;
  const writer = new SvgWriter(WIDTH, HEIGHT + 16 * all.length, `Scalars of ${run}`);
  writer.add('rect', { x: 0, y: 0, width: WIDTH, height: HEIGHT + 16 * all.length, fill: '#fff' });
  for (let i = 0; i <= 4; ++i) {
    const value = back(low + ((high - low) * i) / 4);
    const step = Math.round(first + ((last - first) * i) / 4);
    writer.add('line', { x1: FRAME.left, x2: WIDTH - FRAME.right, y1: py(value), y2: py(value), stroke: '#ccc' });
    if (finite.length > 0) writer.text(FRAME.left - 6, py(value) + 4, short(value, 3), { 'text-anchor': 'end' });
    if (Number.isFinite(step)) writer.text(px(step), HEIGHT - FRAME.bottom + 16, String(step), { 'text-anchor': 'middle' });
  }
  writer.text(WIDTH / 2, HEIGHT - 6, 'step', { 'text-anchor': 'middle' });
  all.forEach((series, i) => {
    const { light } = categoryOf(series.other?.like ?? i);
    const dash = series.other ? OTHER_DASH : categoryOf(i).dash;
    let path = '';
    let pen = 'M';
    series.value.forEach((value, at) => {
      if (!Number.isFinite(place(value))) {
        pen = 'M';
        return;
      }
      path += `${pen}${px(series.step[at]!).toFixed(1)} ${py(value).toFixed(1)}`;
      pen = 'L';
    });
    writer.add('path', { d: path, fill: 'none', stroke: light, 'stroke-width': 1.5, 'stroke-dasharray': dash.join(' ') || undefined });
    writer.add('line', { x1: FRAME.left, x2: FRAME.left + 26, y1: HEIGHT + 16 * i + 4, y2: HEIGHT + 16 * i + 4, stroke: light, 'stroke-width': 3, 'stroke-dasharray': dash.join(' ') || undefined });
    writer.text(FRAME.left + 34, HEIGHT + 16 * i + 8, `${series.words.name} ${series.words.of === 'scalar' ? '' : series.words.of}${series.other ? ` of ${series.other.run}` : ''}`);
    for (const { step, kind } of series.oddities) writer.text(px(step), HEIGHT - FRAME.bottom - 3, kind === 'nan' ? '✕' : kind === 'positive_inf' ? '▲' : '▼', { 'text-anchor': 'middle', fill: light });
  });
  return { fileName: `${fileName(run, 'scalars')}.svg`, data: writer.toBlob() };
}
