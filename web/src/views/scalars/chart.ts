// Chart: the lines, with uPlot.
import 'uplot/dist/uPlot.min.css';

import UPlot from 'uplot';

import { categoryOf, nonFinite } from '../../draw/colours';
import { short } from '../../draw/numbers';
import { themeOf } from '../../draw/theme';
import { placeOf, places, startOf } from './axis';
import { OTHER_DASH, type ChartLook } from './look';
import { smoothed, type Series } from '../series';

export interface ChartEvents {
  /** The pointer is over a place of the axis; null: it has left. */
  hover(place: number | null): void;
  pick(place: number): void;
  zoom(from: number, to: number): void;
}

export class Chart {
  private plot: UPlot | null = null;
  private built = ''; // what the plot was made for
  private all: readonly Series[] = [];
  private look: ChartLook | null = null;

  constructor(
    private readonly element: HTMLElement,
    private readonly events: ChartEvents,
  ) {}

  get canvas(): HTMLCanvasElement | undefined {
    return this.plot?.ctx.canvas;
  }

  show(all: readonly Series[], look: ChartLook): void {
    this.all = all;
    this.look = look;
    const data = this.dataOf(all, look);
    const key = JSON.stringify([look.axis, look.y, look.smooth > 0, all.map(({ words, other }) => [words.id, other?.run, look.hidden.has(words.id)]), themeOf(this.element).dark]);
    if (this.plot && key === this.built) {
      this.plot.setData(data);
      return;
    }
    this.plot?.destroy();
    this.built = key;
    this.plot = new UPlot(this.options(all, look), data, this.element);
  }

  resize(): void {
    this.plot?.setSize(this.size());
  }

  destroy(): void {
    this.plot?.destroy();
  }

  private size(): { width: number; height: number } {
    return { width: Math.max(200, this.element.clientWidth), height: Math.max(160, this.element.clientHeight) };
  }

  private dataOf(all: readonly Series[], look: ChartLook): UPlot.AlignedData {
    if (all.length === 0) return [[]];
    const start = startOf(all);
    const drawable = (values: Float64Array) => Array.from(values, (x) => (Number.isNaN(x) || (look.y === 'log' && x <= 0) ? null : x));
    const tables = all.map((series) => {
      const columns = [Array.from(places(series, look.axis, start)), drawable(series.value)];
      if (look.smooth > 0) columns.push(drawable(smoothed(series.value, look.smooth)));
      return columns as unknown as UPlot.AlignedData;
    });
    // 2: a gap stays a gap, and a place that a series does not have is none.
    return UPlot.join(tables, tables.map((table) => table.map(() => 2)));
  }

  private options(all: readonly Series[], look: ChartLook): UPlot.Options {
    const theme = themeOf(this.element);
    const axis: UPlot.Axis = { stroke: theme.text, grid: { stroke: theme.line, width: 1 }, ticks: { stroke: theme.line } };
    const lines = all.flatMap(({ words, other }, i) => {
      const category = categoryOf(other?.like ?? i);
      const stroke = theme.dark ? category.dark : category.light;
      const line: UPlot.Series = { label: words.name, stroke, dash: other ? [...OTHER_DASH] : [...category.dash], width: 1.5, show: !look.hidden.has(words.id), spanGaps: false, points: { show: words.count === 1 } };
      return look.smooth > 0 ? [{ ...line, alpha: 0.3, width: 1 }, { ...line, width: 2 }] : [line];
    });
    return {
      ...this.size(),
      legend: { show: false },
      cursor: { drag: { x: true, y: false, setScale: false }, y: false, points: { size: 6 } },
      scales: {
        x: { time: look.axis === 'time' },
        y: { distr: look.y === 'log' ? 3 : look.y === 'symlog' ? 4 : 1, asinh: 1 },
      },
      axes: [axis, { ...axis, size: 70, values: (_, ticks) => ticks.map((tick) => (tick === null ? '' : short(tick, 3))) }],
      series: [{}, ...lines],
      hooks: {
        draw: [(plot) => this.drawMarks(plot)],
        setCursor: [(plot) => this.events.hover(plot.cursor.left !== undefined && plot.cursor.left >= 0 ? plot.posToVal(plot.cursor.left, 'x') : null)],
        setSelect: [(plot) => this.selected(plot)],
        ready: [(plot) => this.listen(plot)],
      },
    };
  }

  /** A click where the button went down is a pick; a drag has been a selection. */
  private listen(plot: UPlot): void {
    let down = 0;
    plot.over.addEventListener('mousedown', (event) => (down = event.clientX));
    plot.over.addEventListener('click', (event) => {
      if (Math.abs(event.clientX - down) < 4) this.events.pick(plot.posToVal(event.offsetX, 'x'));
    });
  }

  private selected(plot: UPlot): void {
    if (plot.select.width < 4) return;
    const from = plot.posToVal(plot.select.left, 'x');
    const to = plot.posToVal(plot.select.left + plot.select.width, 'x');
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.events.zoom(from, to);
  }

  /** The cursor, where rules fired, and the numbers that are none. */
  private drawMarks(plot: UPlot): void {
    const look = this.look;
    if (!look || this.all.length === 0) return;
    const { ctx, bbox } = plot;
    const theme = themeOf(this.element);
    const start = startOf(this.all);
    const pixel = window.devicePixelRatio || 1;
    const x = (step: number) => {
      const place = placeOf(this.all, look.axis, start, step);
      return place === undefined ? NaN : plot.valToPos(place, 'x', true);
    };
    const inside = (left: number) => left >= bbox.left && left <= bbox.left + bbox.width;
    const upright = (left: number, colour: string, dash: number[]) => {
      if (!inside(left)) return;
      ctx.strokeStyle = colour;
      ctx.setLineDash(dash.map((part) => part * pixel));
      ctx.beginPath();
      ctx.moveTo(left, bbox.top);
      ctx.lineTo(left, bbox.top + bbox.height);
      ctx.stroke();
    };
    ctx.save();
    ctx.lineWidth = pixel;
    for (const { step } of look.firings) upright(x(step), theme.bad, [2, 3]);
    if (look.step !== null) upright(x(look.step), theme.accent, []);
    ctx.setLineDash([]);
    ctx.font = `${11 * pixel}px sans-serif`;
    ctx.textAlign = 'center';
    for (const series of this.all) {
      if (look.hidden.has(series.words.id)) continue;
      for (const { step, time, kind } of series.oddities) {
        const place = look.axis === 'step' ? step : look.axis === 'time' ? time : time - start;
        const left = plot.valToPos(place, 'x', true);
        if (!inside(left)) continue;
        ctx.fillStyle = kind === 'nan' ? nonFinite.nan : kind === 'positive_inf' ? nonFinite.positive : nonFinite.negative;
        const top = kind === 'positive_inf';
        ctx.fillText(kind === 'nan' ? '✕' : top ? '▲' : '▼', left, top ? bbox.top + 10 * pixel : bbox.top + bbox.height - 3 * pixel);
      }
    }
    ctx.restore();
  }
}
