// A tensor's statistics over steps: small charts with one cursor, and all of it as a table.
import { h, replace, s } from '../../draw/dom';
import { count, exact, short } from '../../draw/numbers';
import { SvgWriter } from '../../draw/svg';

import { NumberTable } from './api';
import { type Look, type Pane, type PaneOwner, Question } from './pane';
import { finiteRange, linePath } from './sparkline';

interface Line {
  of: string;
  values: Float64Array;
}
interface Chart {
  title: string;
  lines: Line[];
}

const WIDTH = 300;
const HEIGHT = 96;
const MOST_ROWS = 200; // of the table on the page; the file has all

interface Shown {
  steps: Float64Array;
  table: NumberTable;
  charts: Chart[];
  note: string;
}

function column(table: NumberTable, rows: number, name: string): Float64Array {
  return Float64Array.from({ length: rows }, (_, row) => table.at(row, name));
}

function chartsOf(table: NumberTable, rows: number): Chart[] {
  const line = (of: string, name = of): Line => ({ of, values: column(table, rows, name) });
  const share = (name: string): Float64Array => {
    const all = column(table, rows, 'count');
    return column(table, rows, name).map((value, row) => (100 * value) / all[row]!);
  };
  const charts: Chart[] = [
    { title: 'Mean', lines: [line('mean')] },
    { title: 'Standard deviation', lines: [line('std')] },
    { title: 'Min and max', lines: [line('min'), line('max')] },
    { title: 'Mean magnitude', lines: [line('mean of |x|', 'abs_mean')] },
    { title: 'L2 norm', lines: [line('L2', 'l2')] },
    { title: 'Zeros, %', lines: [{ of: 'zeros', values: share('zero') }] },
    { title: 'NaN, elements', lines: [line('NaN', 'nan')] },
    { title: 'Infinite, elements', lines: [line('+∞', 'positive_inf'), line('−∞', 'negative_inf')] },
  ];
  return charts.filter(({ lines }) => lines.some(({ values }) => values.some((value) => !Number.isNaN(value))));
}

export class NumbersPane implements Pane {
  readonly element = h('div', { class: 'tn-pane', 'data-pane': 'numbers' });
  private readonly question = new Question();
  private shown: Shown | null = null;
  private look: Look | null = null;

  constructor(private readonly owner: PaneOwner) {}

  show(look: Look): void {
    this.look = look;
    const worker = look.params['worker'];
    const key = `${look.info.id} ${worker ?? ''} ${look.info.steps.map(String).join(' ')}`;
    this.question.ask(key, (signal) => this.load(look, worker, signal), this.owner.failed);
    this.draw();
  }

  csv(): (string | number)[][] {
    if (!this.shown) return [];
    const { steps, table } = this.shown;
    return [['step', ...table.names], ...Array.from(steps, (step, row) => [step, ...table.names.map((name) => table.at(row, name))])];
  }

  svg(): Blob | undefined {
    const shown = this.shown;
    if (!shown) return undefined;
    const rows = Math.ceil(shown.charts.length / 2);
    const writer = new SvgWriter(2 * (WIDTH + 40), rows * (HEIGHT + 50) + 30, `Statistics of ${this.look!.info.name}`);
    writer.text(8, 18, this.look!.info.name, { 'font-weight': 'bold' });
    shown.charts.forEach((chart, i) => {
      const [x, y] = [8 + (i % 2) * (WIDTH + 40), 50 + Math.floor(i / 2) * (HEIGHT + 50)];
      const range = finiteRange(joined(chart));
      writer.text(x, y - 6, `${chart.title}${range ? `: ${short(range[0])} to ${short(range[1])}` : ''}`);
      writer.group({ transform: `translate(${x} ${y})` }, () => {
        writer.add('rect', { width: WIDTH, height: HEIGHT, fill: 'none', stroke: '#c8d0d8' });
        if (!range) return;
        chart.lines.forEach(({ values }, line) =>
          writer.add('path', { d: linePath(shown.steps, values, WIDTH, HEIGHT, range[0], range[1]), fill: 'none', stroke: line ? '#b04a00' : '#0072b2' }));
      });
    });
    return writer.toBlob();
  }

  destroy(): void {
    this.question.close();
  }

  private async load(look: Look, worker: string | undefined, signal: AbortSignal): Promise<void> {
    const arrays = await this.owner.api.statistics(look.info.id, worker, signal);
    const steps = arrays.f64('steps');
    const table = new NumberTable(arrays);
    const all = arrays.json<number>('steps_in_all') ?? steps.length;
    const pending = arrays.json<number>('pending') ?? 0;
    const damaged = arrays.json<number>('damaged') ?? 0;
    const notes = [`${count(steps.length)} of ${count(all)} steps`];
    if (pending > 0) notes.push(`${count(pending)} are still being computed`);
    if (damaged > 0) notes.push(`${count(damaged)} cannot be read`);
    this.shown = { steps, table, charts: chartsOf(table, steps.length), note: notes.join('; ') };
    if (pending > 0) this.question.forget();
    this.draw();
    if (pending > 0) this.show(this.look!);
  }

  private rowAtCursor(): number {
    const { steps } = this.shown!;
    const cursor = this.look!.step ?? Infinity;
    let row = -1;
    steps.forEach((step, i) => {
      if (step <= cursor) row = i;
    });
    return row;
  }

  private draw(): void {
    const shown = this.shown;
    if (!shown) {
      replace(this.element, h('p', { class: 'muted' }, 'Reading statistics …'));
      return;
    }
    if (shown.steps.length === 0) {
      replace(this.element, h('p', {}, 'No numbers were kept of this tensor, only its shape.'));
      return;
    }
    const row = this.rowAtCursor();
    const charts = shown.charts.map((chart) => this.chartElement(chart, shown.steps, row));
    replace(this.element, h('p', { class: 'muted' }, shown.note), h('div', { class: 'cards' }, ...charts), this.tableElement(shown, row));
    this.owner.drawn(row < 0 ? null : shown.steps[row]!);
  }

  private chartElement(chart: Chart, steps: Float64Array, row: number): HTMLElement {
    const range = finiteRange(joined(chart));
    const said = chart.lines.map(({ of, values }, i) => `${chart.lines.length > 1 ? `${['—', '╌'][i]} ${of} ` : ''}${row < 0 ? '–' : short(values[row]!)}`).join(', ');
    const label = range
      ? `${chart.title}: ${said} at step ${row < 0 ? 'none' : steps[row]}; from ${short(range[0])} to ${short(range[1])} over ${steps.length} steps`
      : `${chart.title}: ${said}, no finite number`;
    const drawing = s('svg', { viewBox: `0 -3 ${WIDTH} ${HEIGHT + 6}`, class: 'tn-chart', preserveAspectRatio: 'none', role: 'img', 'aria-label': label });
    if (range) {
      chart.lines.forEach(({ values }, i) =>
        drawing.append(s('path', { d: linePath(steps, values, WIDTH, HEIGHT, range[0], range[1]), class: `tn-line tn-line-${i}` })));
      for (const dot of lonePoints(chart, steps, range)) drawing.append(dot);
    }
    const x = (step: number) => ((step - steps[0]!) / (steps.at(-1)! - steps[0]! || 1)) * WIDTH;
    if (row >= 0) drawing.append(s('line', { x1: x(steps[row]!), x2: x(steps[row]!), y1: -3, y2: HEIGHT + 3, class: 'tn-cursor' }));
    drawing.addEventListener('click', (event) => this.seek(event, drawing, steps));
    const ends = range ? h('span', { class: 'muted' }, `${short(range[0])} … ${short(range[1])}`) : null;
    return h('figure', { class: 'panel tn-figure' },
      h('figcaption', {}, h('strong', {}, chart.title), ' ', h('span', { class: 'tn-value' }, said), ' ', ends), drawing as unknown as HTMLElement);
  }

  private seek(event: MouseEvent, drawing: Element, steps: Float64Array): void {
    const box = drawing.getBoundingClientRect();
    const wanted = steps[0]! + ((event.clientX - box.left) / Math.max(box.width, 1)) * (steps.at(-1)! - steps[0]!);
    let best = steps[0]!;
    for (const step of steps) if (Math.abs(step - wanted) < Math.abs(best - wanted)) best = step;
    this.owner.context.seek(best);
  }

  private tableElement({ steps, table }: Shown, row: number): HTMLElement {
    const first = Math.max(0, Math.min(steps.length - MOST_ROWS, row - MOST_ROWS / 2));
    const rows = Array.from(steps).slice(first, first + MOST_ROWS).map((step, i) =>
      h('tr', { 'aria-current': first + i === row ? 'step' : undefined }, h('th', { scope: 'row', class: 'number' }, step),
        ...table.names.map((name) => h('td', { class: 'number' }, exact(table.at(first + i, name))))));
    const head = h('tr', {}, h('th', { scope: 'col' }, 'step'), ...table.names.map((name) => h('th', { scope: 'col' }, name)));
    return h('details', {}, h('summary', {}, 'As a table'),
      h('div', { class: 'tn-wide', tabindex: '0', role: 'region', 'aria-label': 'Statistics over steps' },
        h('table', { class: 'table' }, h('thead', {}, head), h('tbody', {}, ...rows))));
  }
}

function joined(chart: Chart): number[] {
  return chart.lines.flatMap(({ values }) => Array.from(values));
}

/** A number between gaps is no line, and the only one neither. */
function lonePoints(chart: Chart, steps: Float64Array, [low, high]: [number, number]): SVGElement[] {
  const across = steps.at(-1)! - steps[0]! || 1;
  return chart.lines.flatMap(({ values }, line) =>
    Array.from(values).flatMap((value, i) => {
      if (!Number.isFinite(value) || Number.isFinite(values[i - 1] ?? NaN) || Number.isFinite(values[i + 1] ?? NaN)) return [];
      const cy = high === low ? HEIGHT / 2 : HEIGHT - ((value - low) / (high - low)) * HEIGHT;
      return [s('circle', { cx: ((steps[i]! - steps[0]!) / across) * WIDTH, cy, r: 2.5, class: `tn-dot tn-line-${line}` })];
    }));
}
