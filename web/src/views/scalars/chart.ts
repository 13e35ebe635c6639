// Chart: the lines, with uPlot.
import 'uplot/dist/uPlot.min.css';

import UPlot from 'uplot';

import { short } from '../../draw/numbers';
import { themeOf } from '../../draw/theme';
import { pointsOf, stepAt } from './axis';
import { listenToGestures } from '../../draw/gestures';
import { axisWidth, clippedRange, stylesOf, type ChartLook } from './look';
import { drawMarks } from './marks';
import { smoothed, type Series } from '../series';
import { Tip } from './tip';
import { ZoomPicture, type LineOptions } from './zoom_picture';

export interface ChartEvents {
  /** The pointer is over a step; null: it has left. */
  hover(step: number | null): void;
  pick(step: number): void;
  /** Steps; undefined: the whole series. */
  zoom(from: number | undefined, to: number | undefined): void;
}

/** One of many on a page: low, its wheel scrolls the page, and its cursor moves with those of the others. */
export type ChartSize = 'large' | 'small';

const CURSORS_OF_PANELS = 'panels';

/** Fewer points than these are marked each: an evaluation now and then is more than the line between. */
const MARKED_POINTS = 40;

/** Of a raw line behind the smoothed one; of lines that make way for one that is pointed at. */
const RAW_ALPHA = 0.3;
const FAINT_ALPHA = 0.15;

/** Of more than these the one at the pointer stands out, and the others fade. */
const MANY_LINES = 6;

export class Chart {
  private plot: UPlot | null = null;
  private built = ''; // what the plot was made for
  private all: readonly Series[] = [];
  private look: ChartLook | null = null;
  private zoomPicture: ZoomPicture | null = null;
  private held: { min: number; max: number } | null = null; // what a hand zooms to that has not rested yet
  private readonly tip: Tip;

  constructor(
    private readonly element: HTMLElement,
    private readonly size: ChartSize,
    private readonly events: ChartEvents,
  ) {
    this.tip = new Tip(element);
  }

  get canvas(): HTMLCanvasElement | undefined {
    return this.plot?.ctx.canvas;
  }

  show(all: readonly Series[], look: ChartLook): void {
    this.all = all;
    this.look = look;
    const data = this.dataOf(all, look);
    const key = JSON.stringify([look.line.axis, look.y, look.clip, look.smooth > 0, look.colourBy, all.map(({ words, other }) => [words.id, other?.run, look.hidden.has(words.id)]), themeOf(this.element).dark]);
    if (this.plot && key === this.built) {
      this.zoomPicture?.end();
      this.plot.setData(data, this.held === null);
    } else {
      this.plot?.destroy();
      this.built = key;
      this.plot = new UPlot(this.options(all, look), data, this.element);
    }
    // What is answered meanwhile does not undo what a hand does.
    if (this.held) this.plot.setScale('x', this.held);
  }

  /** The lines of the run at this place among those that are drawn over each other stand out; null: all do. */
  emphasise(place: number | null): void {
    const { plot, look } = this;
    if (!plot || !look) return;
    this.zoomPicture?.end();
    let column = 1;
    for (const { other, band } of this.all) {
      const isFaint = place !== null && (other?.place ?? 0) !== place;
      const lines = look.smooth > 0 ? [RAW_ALPHA, 1] : [1];
      for (const alpha of lines) plot.series[column++]!.alpha = isFaint ? FAINT_ALPHA * alpha : alpha;
      if (band) column += 2;
    }
    plot.redraw(false);
  }

  resize(): void {
    this.zoomPicture?.end();
    this.plot?.setSize(this.room());
  }

  destroy(): void {
    this.plot?.destroy();
    this.plot = null;
  }

  private room(): { width: number; height: number } {
    return { width: Math.max(200, this.element.clientWidth), height: Math.max(this.size === 'small' ? 120 : 160, this.element.clientHeight) };
  }

  private dataOf(all: readonly Series[], look: ChartLook): UPlot.AlignedData {
    if (all.length === 0) return [[]];
    const drawable = (values: Float64Array) => Array.from(values, (x) => (Number.isNaN(x) || (look.y === 'log' && x <= 0) ? null : x));
    const tables = all.map((series) => {
      const { place, value } = pointsOf(series, look.line);
      const columns = [place, drawable(value)];
      const isSmooth = look.smooth > 0 && place.length > MARKED_POINTS; // few points are no noise
      if (look.smooth > 0) columns.push(drawable(isSmooth ? smoothed(value, look.smooth) : value));
      for (const edge of series.band ? [series.band.low, series.band.high] : []) {
        const edges = pointsOf(series, look.line, edge).value;
        columns.push(drawable(isSmooth ? smoothed(edges, look.smooth) : edges));
      }
      return columns as unknown as UPlot.AlignedData;
    });
    // 2: a gap stays a gap, and a place that a series does not have is none.
    return UPlot.join(tables, tables.map((table) => table.map(() => 2)));
  }

  private options(all: readonly Series[], look: ChartLook): UPlot.Options {
    const theme = themeOf(this.element);
    const isSmall = this.size === 'small';
    const axis: UPlot.Axis = { stroke: theme.text, grid: { stroke: theme.line, width: 1 }, ticks: { stroke: theme.line } };
    const styles = stylesOf(all, look.colourBy);
    const lines = all.flatMap(({ words, label, band }, i) => {
      const { light, dark, dash } = styles[i]!;
      const line: UPlot.Series = { label, stroke: theme.dark ? dark : light, dash: [...dash], width: 1.5, show: !look.hidden.has(words.id), spanGaps: false, points: { show: words.count <= MARKED_POINTS, size: 5 } };
      const own = look.smooth > 0 ? [{ ...line, alpha: RAW_ALPHA, width: 1 }, { ...line, width: 2 }] : [line];
      return band ? [...own, ...edgesOf(line)] : own;
    });
    this.zoomPicture = all.some(({ band }) => band) ? null : new ZoomPicture(lines as LineOptions[]);
    const paths = this.zoomPicture?.paths;
    const across: UPlot.Axis = isSmall ? { ...axis, size: 26, space: 60, values: (_, ticks) => ticks.map((tick) => shortPlace(tick)) } : axis;
    return {
      ...this.room(),
      legend: { show: false },
      focus: { alpha: 0.25 },
      padding: [isSmall ? 6 : null, 8, 0, 0],
      cursor: {
        drag: { x: true, y: false, setScale: false }, y: false, points: { size: 6 },
        bind: { dblclick: () => null },
        ...(all.length > MANY_LINES && !all.some(({ band }) => band) ? { focus: { prox: 24 } } : {}),
        ...(isSmall ? { sync: { key: CURSORS_OF_PANELS, setSeries: false } } : {}),
      },
      scales: {
        x: { time: look.line.axis === 'time' },
        y: { distr: look.y === 'log' ? 3 : look.y === 'symlog' ? 4 : 1, asinh: 1, ...(look.clip ? { range: (_, low, high) => this.clipped(low, high) } : {}) },
      },
      axes: [look.line.axis === 'time' ? axis : across, { ...axis, size: (_, labels) => axisWidth(labels, isSmall ? 52 : 70), values: (_, ticks) => ticks.map((tick) => (isSmall ? shortPlace(tick) : tick === null ? '' : short(tick, 3))) }],
      series: [{}, ...(paths ? lines.map((line) => ({ ...line, paths })) : lines)],
      bands: bandsOf(all, styles.map(({ light, dark }) => (theme.dark ? dark : light)), look.smooth > 0),
      hooks: {
        draw: [(plot) => this.zoomPicture?.draw(plot), (plot) => this.look && drawMarks(plot, this.shown(), this.look, themeOf(this.element))],
        setCursor: [(plot) => this.moved(plot)],
        setSelect: [(plot) => this.selected(plot)],
        ready: [(plot) => this.listen(plot)],
      },
    };
  }

  private clipped(low: number | null, high: number | null): [number, number] {
    const look = this.look;
    const shown = look === null ? [] : this.all.filter(({ words }) => !look.hidden.has(words.id));
    const range = clippedRange(shown.map(({ value }) => (look!.y === 'log' ? value.filter((x) => x > 0) : value)));
    if (range === null) return [low ?? 0, high ?? 1];
    return look!.y === 'log' ? [Math.max(range[0], low ?? range[1] / 10), range[1]] : range;
  }

  /** A click where the button went down is a pick; a drag has been a selection. */
  private listen(plot: UPlot): void {
    let down = 0;
    plot.over.addEventListener('mousedown', (event) => (down = event.clientX));
    plot.over.addEventListener('click', (event) => {
      const step = this.stepAt(plot.posToVal(event.offsetX, 'x'));
      if (Math.abs(event.clientX - down) < 4 && step !== undefined) this.events.pick(step);
    });
    listenToGestures(plot.over, this.size === 'large', {
      by: (factor, at) => this.zoomBy(plot, factor, at),
      settled: () => this.zoomed(plot),
      reset: () => this.events.zoom(undefined, undefined),
    });
  }

  private stepAt(place: number): number | undefined {
    return this.look === null ? undefined : stepAt(this.all, this.look.line, place);
  }

  private moved(plot: UPlot): void {
    const { left, top } = plot.cursor;
    const isHere = left !== undefined && left >= 0 && plot.over.matches(':hover');
    const step = isHere ? this.stepAt(plot.posToVal(left, 'x')) : undefined;
    if (step === undefined || this.look === null) this.tip.hide();
    else this.tip.show(this.shown(), this.look, step, themeOf(this.element).dark, plot.over.offsetLeft + left!, plot.over.offsetTop + (top ?? 0));
    if (isHere || left === undefined || left < 0) this.events.hover(step ?? null);
  }

  private shown(): Series[] {
    return this.all.filter(({ words }) => !this.look?.hidden.has(words.id));
  }

  /** Of what is here, at once; what is finer is asked for when the hand rests. */
  private zoomBy(plot: UPlot, factor: number, at: number): void {
    const { min, max } = plot.scales['x']!;
    if (typeof min !== 'number' || typeof max !== 'number') return;
    const middle = min + at * (max - min);
    const [from, to] = [middle - factor * (middle - min), middle + factor * (max - middle)];
    this.zoomPicture?.prepare(plot, from, to);
    this.held = { min: from, max: to };
    plot.setScale('x', this.held);
  }

  private zoomed(plot: UPlot): void {
    this.held = null;
    if (this.zoomPicture?.end()) plot.redraw(true);
    const { min, max } = plot.scales['x']!;
    if (typeof min === 'number' && typeof max === 'number') this.events.zoom(this.stepAt(min), this.stepAt(max));
  }

  private selected(plot: UPlot): void {
    if (plot.select.width < 4) return;
    const from = plot.posToVal(plot.select.left, 'x');
    const to = plot.posToVal(plot.select.left + plot.select.width, 'x');
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.events.zoom(this.stepAt(from), this.stepAt(to));
  }
}

/** Of a band: not drawn themselves. */
function edgesOf(line: UPlot.Series): UPlot.Series[] {
  const edge: UPlot.Series = { ...line, stroke: 'transparent', width: 0, points: { show: false } };
  return [edge, edge];
}

/** Between the two columns behind those of each series that has a band. */
function bandsOf(all: readonly Series[], colours: readonly string[], isSmooth: boolean): UPlot.Band[] {
  let column = 1;
  return all.flatMap(({ band }, i) => {
    const low = column + (isSmooth ? 2 : 1);
    column = band ? low + 2 : low;
    return band ? [{ series: [low + 1, low], fill: `${colours[i]}2e` } as UPlot.Band] : [];
  });
}

/** "12k": a small panel has little room. */
function shortPlace(place: number | null): string {
  if (place === null) return '';
  const size = Math.abs(place);
  if (size >= 1e6) return `${short(place / 1e6, 3)}M`;
  return size >= 1e4 ? `${short(place / 1e3, 3)}k` : short(place, 4);
}
