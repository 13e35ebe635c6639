// MetricLines: one number of each head over the steps of the training: a small chart for each layer.
import { type Frame, Picture } from '../../draw/canvas';
import { h, replace } from '../../draw/dom';
import { count, short } from '../../draw/numbers';
import { themeOf } from '../../draw/theme';

import { Disclosure, chooser } from './controls';
import { lookOf } from './head_colours';
import { metricName } from './model_order';
import { Latest, type Moment, type PaneContext } from './pane';
import { DEFAULTS, wordOf } from './selection';

export interface MetricSeries {
  steps: Float64Array;
  metrics: readonly string[];
  layers: number;
  heads: number;
  numbers: Float32Array;
}

export function seriesAt(series: MetricSeries, metric: string, layer: number, head: number): Float64Array {
  const { layers, heads, metrics } = series;
  const index = metrics.indexOf(metric);
  return Float64Array.from(series.steps, (_, step) => series.numbers[((step * layers + layer) * heads + head) * metrics.length + index] ?? NaN);
}

/** The ends of all that is finite; null when nothing is. */
export function endsOf(series: MetricSeries, metric: string): [low: number, high: number] | null {
  const index = series.metrics.indexOf(metric);
  let [low, high] = [Infinity, -Infinity];
  for (let i = index; index >= 0 && i < series.numbers.length; i += series.metrics.length) {
    const value = series.numbers[i]!;
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low > high ? null : [low, high];
}

/** The head whose number changes most from one step to the next, and where; null when none does. */
export interface HeadChange {
  head: number;
  step: number;
  from: number;
  to: number;
}

export function largestChange(steps: ArrayLike<number>, lines: readonly ArrayLike<number>[]): HeadChange | null {
  let found: HeadChange | null = null;
  lines.forEach((line, head) => {
    for (let i = 1; i < line.length; ++i) {
      const [from, to] = [line[i - 1]!, line[i]!];
      if (Math.abs(to - from) > (found ? Math.abs(found.to - found.from) : 0)) found = { head, step: steps[i]!, from, to };
    }
  });
  return found;
}

/** The place of the step that is nearest to `wanted`. */
function nearestStep(steps: Float64Array, wanted: number): number {
  return steps.reduce((best, step, i) => (Math.abs(step - wanted) < Math.abs(steps[best]! - wanted) ? i : best), 0);
}

const PAD_PX = 4;

export class MetricLines {
  readonly element: HTMLElement;
  private readonly disclosure: Disclosure;
  private readonly metric;
  private readonly charts = h('div', { class: 'at-multiples' });
  private readonly latest = new Latest();
  private pictures: Picture[] = [];
  private moment: Moment | null = null;
  private series: MetricSeries | null = null;
  private askedFor = '';

  constructor(private readonly context: PaneContext) {
    this.metric = chooser('Metric', [], (value) => context.change({ metric: wordOf(value, DEFAULTS.metric) }));
    this.disclosure = new Disclosure('Heads over the training', (body) => {
      if (body.childElementCount === 0) body.append(this.metric.element, this.charts);
      this.ask();
    });
    this.element = this.disclosure.element;
  }

  show(moment: Moment): void {
    this.moment = moment;
    this.disclosure.refresh();
  }

  destroy(): void {
    this.latest.drop();
    this.forget();
  }

  /** Requested only when it is visible: the server has to read all steps. */
  private ask(): void {
    const { moment } = this;
    if (!moment) return;
    const wanted = JSON.stringify([moment.selection.item, moment.steps.count, moment.steps.last]);
    if (wanted === this.askedFor) return this.draw();
    this.askedFor = wanted;
    const request = this.context.addresses.metrics(moment.selection.item);
    this.latest.run(this.context.loader.source.arrays(request.path, request.parameters), (arrays) => {
      const [, layers = 0, heads = 0] = arrays.get('metrics').shape;
      this.series = { steps: arrays.f64('steps'), metrics: arrays.json<string[]>('metrics') ?? [], layers, heads, numbers: arrays.f32('metrics') };
      this.metric.offer(this.series.metrics.map((metric) => [metric, metricName(metric)]));
      this.draw();
    }, (error) => {
      this.askedFor = '';
      this.context.fail(error);
    });
  }

  private forget(): void {
    for (const picture of this.pictures.splice(0)) picture.destroy();
  }

  private draw(): void {
    const { series, moment } = this;
    if (!series || !moment) return;
    const metric = series.metrics.includes(moment.selection.metric) ? moment.selection.metric : (series.metrics[0] ?? '');
    this.metric.set(metric);
    const ends = endsOf(series, metric);
    this.forget();
    if (!ends) return replace(this.charts, h('p', {}, `No head has a known ${metricName(metric)} yet.`));
    replace(this.charts, ...Array.from({ length: series.layers }, (_, layer) => this.chart(series, moment, metric, layer, ends)));
  }

  private chart(series: MetricSeries, moment: Moment, metric: string, layer: number, ends: [number, number]): HTMLElement {
    const info = moment.listing.layers[layer];
    const box = h('div', { class: 'at-multiple' });
    const heads = info?.heads ?? series.heads;
    const lines = Array.from({ length: heads }, (_, head) => seriesAt(series, metric, layer, head));
    const last = lines.map((line) => line.at(-1) ?? NaN);
    const label = `Layer ${info?.layer ?? layer}: ${metricName(metric)} of ${heads} heads over ${count(series.steps.length)} steps, at last ${last.map((value) => short(value, 3)).join(', ')}`;
    this.pictures.push(new Picture(box, label, (frame) => this.paint(frame, box, series.steps, lines, ends, moment.step)));
    return h('figure', { class: 'at-figure', 'data-layer': info?.layer ?? layer },
      h('figcaption', {}, `Layer ${info?.layer ?? layer}  ${short(ends[0], 3)} to ${short(ends[1], 3)}`), box, this.below(box, series.steps, lines));
  }

  /** What all heads have at the step under the pointer; without one, which has changed most. */
  private below(box: HTMLElement, steps: Float64Array, lines: readonly Float64Array[]): HTMLElement {
    const change = largestChange(steps, lines);
    const most = change ? `Head ${change.head} changes most, at step ${count(change.step)}: ${short(change.from, 3)} to ${short(change.to, 3)}` : '';
    const said = h('p', { class: 'muted at-said' }, most);
    box.addEventListener('pointermove', ({ clientX }) => {
      const { left, width } = box.getBoundingClientRect();
      const [first, last] = [steps[0] ?? 0, steps.at(-1) ?? 0];
      const i = nearestStep(steps, first + ((clientX - left - PAD_PX) / (width - 2 * PAD_PX)) * (last - first));
      said.textContent = `Step ${count(steps[i]!)}: ${lines.map((line, head) => `head ${head} ${short(line[i]!, 3)}`).join(', ')}`;
    });
    box.addEventListener('pointerleave', () => (said.textContent = most));
    return said;
  }

  private paint({ context, width, height }: Frame, box: HTMLElement, steps: Float64Array, lines: Float64Array[], ends: [number, number], now: number): void {
    const theme = themeOf(box);
    const [first, last] = [steps[0] ?? 0, steps.at(-1) ?? 1];
    const x = (step: number): number => PAD_PX + ((step - first) / (last - first || 1)) * (width - 2 * PAD_PX);
    const y = (value: number): number => height - PAD_PX - ((value - ends[0]) / (ends[1] - ends[0] || 1)) * (height - 2 * PAD_PX);
    context.strokeStyle = theme.line;
    context.strokeRect(0.5, 0.5, width - 1, height - 1);
    context.beginPath();
    context.moveTo(x(now), 0);
    context.lineTo(x(now), height);
    context.stroke();
    lines.forEach((line, head) => {
      const look = lookOf(head, theme.dark);
      context.strokeStyle = look.colour;
      context.setLineDash([...look.dash]);
      context.lineWidth = 1.5;
      context.beginPath();
      let down = false;
      line.forEach((value, i) => {
        if (!Number.isFinite(value)) down = false; // a gap where nothing is known
        else if (down) context.lineTo(x(steps[i]!), y(value));
        else context.moveTo(x(steps[i]!), y(value));
        down ||= Number.isFinite(value);
      });
      context.stroke();
      context.setLineDash([]);
    });
  }
}
