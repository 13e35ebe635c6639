// The chart as files.
import { csvOf, fileName, npyOf } from '../../draw/files';
import { exact, short } from '../../draw/numbers';
import { SvgWriter } from '../../draw/svg';
import { pngOfSvg } from '../../draw/svg_png';
import type { Snapshot } from '../view';
import { stylesOf, type ColourBy, type LineStyle, type YScale } from './look';
import type { Series } from '../series';

/** Rows of what is shown: of buckets, their least and largest numbers, and that they are. */
export function csvRows(run: string, all: readonly Series[]): (string | number)[][] {
  const rows: (string | number)[][] = [['run', 'series', 'mode', 'of', 'step', 'unix_seconds', 'value', 'kind', ...(all.some(({ band }) => band) ? ['low', 'high'] : [])]];
  for (const { words, step, time, value, oddities, other, band } of all) {
    const usual = words.form === 'points' ? 'value' : 'extreme of several steps';
    const odd = new Map((band ? [] : oddities).map(({ step: at, kind }) => [at, kind]));
    const text = { nan: 'nan', positive_inf: 'inf', negative_inf: '-inf' };
    step.forEach((at, i) => {
      const kind = odd.get(at);
      rows.push([other?.run ?? run, words.name, words.mode ?? '', words.of, at, time[i]!, kind && Number.isNaN(value[i]) ? text[kind] : exact(value[i]!), ...(band ? [`mean of ${band.runs[i]} runs`, exact(band.low[i]!), exact(band.high[i]!)] : [usual])]);
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
const HEIGHT = 320;
const FRAME = { left: 70, top: 34, right: 12, bottom: 40 };
const LEGEND = 16;

export interface Picture {
  title: string;
  all: readonly Series[];
  colourBy: ColourBy;
}

const heightOf = ({ all }: Picture) => HEIGHT + LEGEND * all.length + 12;

function drawnPictures(run: string, pictures: readonly Picture[], y: YScale): { svg: Blob; height: number } {
  const height = pictures.reduce((sum, picture) => sum + heightOf(picture), 0);
  const writer = new SvgWriter(WIDTH, height, `Scalars of ${run}`);
  writer.add('rect', { x: 0, y: 0, width: WIDTH, height, fill: '#fff' });
  let top = 0;
  for (const picture of pictures) {
    const at = top;
    writer.group({ transform: `translate(0 ${at})` }, () => drawPicture(writer, run, picture, y));
    top += heightOf(picture);
  }
  return { svg: writer.toBlob(), height };
}

/** One chart after the other, each with its title and what its lines are. */
export function svg(run: string, pictures: readonly Picture[], y: YScale): Snapshot {
  return { fileName: `${fileName(run, 'scalars')}.svg`, data: drawnPictures(run, pictures, y).svg };
}

export async function png(run: string, pictures: readonly Picture[], y: YScale): Promise<Snapshot> {
  const { svg: drawing, height } = drawnPictures(run, pictures, y);
  return { fileName: `${fileName(run, 'scalars')}.png`, data: await pngOfSvg(drawing, WIDTH, height) };
}

/** Where a value and a step are drawn; what is not finite has no place. */
interface Places {
  px(step: number): number;
  py(value: number): number;
  ticks: { steps: number[]; values: number[] };
}

function placesOf(all: readonly Series[], y: YScale): Places {
  const place = y === 'log' ? Math.log10 : y === 'symlog' ? Math.asinh : (value: number) => value;
  const back = y === 'log' ? (x: number) => 10 ** x : y === 'symlog' ? Math.sinh : (x: number) => x;
  const finite = all.flatMap(({ value }) => [...value].map(place).filter(Number.isFinite));
  const [low, high] = [finite.reduce((a, b) => Math.min(a, b), Infinity), finite.reduce((a, b) => Math.max(a, b), -Infinity)];
  const first = Math.min(...all.map(({ step }) => step[0] ?? Infinity));
  const last = Math.max(...all.map(({ step }) => step.at(-1) ?? -Infinity));
  const fifths = [0, 1, 2, 3, 4].map((i) => i / 4);
  return {
    px: (step) => FRAME.left + ((step - first) / (last - first || 1)) * (WIDTH - FRAME.left - FRAME.right),
    py: (value) => HEIGHT - FRAME.bottom - ((place(value) - low) / (high - low || 1)) * (HEIGHT - FRAME.top - FRAME.bottom),
    ticks: {
      steps: Number.isFinite(first) ? [...new Set(fifths.map((part) => Math.round(first + part * (last - first))))] : [],
      values: finite.length > 0 ? [...new Set(fifths.map((part) => back(low + part * (high - low))))] : [],
    },
  };
}

function drawPicture(writer: SvgWriter, run: string, { title, all, colourBy }: Picture, y: YScale): void {
  const styles = stylesOf(all, colourBy);
  const places = placesOf(all, y);
  writer.text(FRAME.left, 20, `${title} of ${run}`, { 'font-size': 15, 'font-weight': 600 });
  for (const value of places.ticks.values) {
    writer.add('line', { x1: FRAME.left, x2: WIDTH - FRAME.right, y1: places.py(value), y2: places.py(value), stroke: '#ccc' });
    writer.text(FRAME.left - 6, places.py(value) + 4, short(value, 3), { 'text-anchor': 'end' });
  }
  for (const step of places.ticks.steps) writer.text(places.px(step), HEIGHT - FRAME.bottom + 16, String(step), { 'text-anchor': 'middle' });
  writer.text(WIDTH / 2, HEIGHT - 6, 'step', { 'text-anchor': 'middle' });
  all.forEach((series, i) => drawLine(writer, series, i, styles[i]!, places));
}

function drawLine(writer: SvgWriter, series: Series, i: number, { light, dash }: LineStyle, { px, py }: Places): void {
  let path = '';
  let pen = 'M';
  series.value.forEach((value, at) => {
    if (!Number.isFinite(py(value))) {
      pen = 'M';
      return;
    }
    path += `${pen}${px(series.step[at]!).toFixed(1)} ${py(value).toFixed(1)}`;
    pen = 'L';
  });
  const line = HEIGHT + LEGEND * i + 4;
  writer.add('path', { d: path, fill: 'none', stroke: light, 'stroke-width': 1.5, 'stroke-dasharray': dash.join(' ') || undefined });
  writer.add('line', { x1: FRAME.left, x2: FRAME.left + 26, y1: line, y2: line, stroke: light, 'stroke-width': 3, 'stroke-dasharray': dash.join(' ') || undefined });
  writer.text(FRAME.left + 34, line + 4, `${series.label} ${series.words.of === 'scalar' ? '' : series.words.of}${series.other ? ` of ${series.other.run}` : ''}`);
  for (const { step, kind } of series.oddities) writer.text(px(step), HEIGHT - FRAME.bottom - 3, kind === 'nan' ? '✕' : kind === 'positive_inf' ? '▲' : '▼', { 'text-anchor': 'middle', fill: light });
}
