// HeatMap: how busy each processor and GPU was, over the stretch of the time line. A canvas with a cursor for keys.
import { Picture, type Frame } from '../../draw/canvas';
import { cividis, colourAt } from '../../draw/colours';
import { h, replace } from '../../draw/dom';
import { themeOf, type Theme } from '../../draw/theme';
import { shown, shortened } from '../../data/text';
import type { Timeline } from './api';
import { heatRows, layoutHeat, type HeatRow } from './heat_map_layout';
import { RIGHT, TimeAxis } from './time_axis';
import { clock, measured } from './words';

export class HeatMap {
  readonly element: HTMLElement;
  private readonly box = h('div', { class: 'heat', tabindex: 0, role: 'application', 'aria-roledescription': 'heat map', 'aria-label': 'Heat map of processors and GPUs', 'aria-description': 'Arrows move from cell to cell, Enter goes to the step' });
  private readonly said = h('p', { class: 'muted heat-said' });
  private readonly picture: Picture;
  private rows: HeatRow[] = [];
  private timeline: Timeline | null = null;
  private cursorMs: number | undefined;
  private cell: { row: number; bucket: number } | null = null;

  constructor(private readonly events: { pick(unixMs: number): void; announce(text: string): void }) {
    this.element = h('div', {}, this.box, h('div', { class: 'heat-foot' }, this.said, h('span', { class: 'muted' }, '0 % '), scale(), h('span', { class: 'muted' }, ' 100 %, grey: not known')));
    this.picture = new Picture(this.box, 'Processors and GPUs over time', (frame) => this.draw(frame, themeOf(this.box)));
    this.box.addEventListener('pointermove', (event) => this.point(this.cellAt(event), false));
    this.box.addEventListener('pointerleave', () => this.point(null, false));
    this.box.addEventListener('click', (event) => this.pick(this.cellAt(event)));
    this.box.addEventListener('keydown', (event) => this.key(event));
  }

  get isEmpty(): boolean {
    return this.rows.length === 0;
  }

  show(timeline: Timeline, cursorMs: number | undefined): void {
    this.timeline = timeline;
    this.rows = heatRows(timeline);
    this.cursorMs = cursorMs;
    this.box.style.height = `${layoutHeat(this.rows.length).height}px`;
    this.picture.describe(this.inWords());
    this.picture.schedule();
    this.drawSaid();
  }

  moveCursor(cursorMs: number | undefined): void {
    this.cursorMs = cursorMs;
    this.picture.schedule();
  }

  destroy(): void {
    this.picture.destroy();
  }

  private axis(width: number): TimeAxis {
    return new TimeAxis({ from: this.timeline!.from_unix_ms, to: this.timeline!.to_unix_ms }, width);
  }

  private draw({ context, width }: Frame, theme: Theme): void {
    const { timeline, rows } = this;
    if (!timeline) return;
    const { rowHigh, height, nameEvery } = layoutHeat(rows.length);
    const axis = this.axis(width);
    const wide = axis.plotWidth / Math.max(1, timeline.buckets);
    const gap = rowHigh >= 8 ? 1 : 0;
    const lut = cividis();
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    rows.forEach(({ name, values }, row) => {
      const y = row * rowHigh;
      context.fillStyle = theme.line;
      context.fillRect(axis.left, y, axis.plotWidth, rowHigh - gap);
      values.forEach((value, bucket) => {
        if (value === null) return;
        context.fillStyle = colourAt(lut, value / 100);
        context.fillRect(axis.left + bucket * wide, y, wide + 0.6, rowHigh - gap);
      });
      if (row % nameEvery !== 0) return;
      context.fillStyle = theme.text;
      context.fillText(shortened(shown(name), 20), 0, y + Math.max(rowHigh, 6) / 2, axis.left - 8);
    });
    context.clearRect(width - RIGHT, 0, RIGHT, height);
    this.drawMarks(context, axis, rowHigh, height, wide, theme);
  }

  private drawMarks(context: CanvasRenderingContext2D, axis: TimeAxis, rowHigh: number, height: number, wide: number, theme: Theme): void {
    const x = this.cursorMs === undefined ? -1 : axis.x(this.cursorMs);
    if (x >= axis.left && x <= axis.left + axis.plotWidth) {
      context.fillStyle = theme.accent;
      context.fillRect(x - 0.75, 0, 1.5, height);
    }
    if (!this.cell) return;
    context.strokeStyle = '#000';
    context.lineWidth = 3;
    const box = [axis.left + this.cell.bucket * wide - 1, this.cell.row * rowHigh - 0.5, Math.max(wide, 3) + 2, rowHigh] as const;
    context.strokeRect(...box);
    context.strokeStyle = '#fff';
    context.lineWidth = 1.5;
    context.strokeRect(...box);
  }

  private cellAt(event: MouseEvent): { row: number; bucket: number } | null {
    if (!this.timeline) return null;
    const box = this.box.getBoundingClientRect();
    const axis = this.axis(box.width);
    const bucket = Math.floor(((event.clientX - box.left - axis.left) / axis.plotWidth) * this.timeline.buckets);
    const row = Math.floor((event.clientY - box.top) / layoutHeat(this.rows.length).rowHigh);
    return bucket < 0 || bucket >= this.timeline.buckets || row < 0 || row >= this.rows.length ? null : { row, bucket };
  }

  private timeOf(bucket: number): number {
    const { from_unix_ms, to_unix_ms, buckets } = this.timeline!;
    return from_unix_ms + ((bucket + 0.5) * (to_unix_ms - from_unix_ms)) / buckets;
  }

  private point(cell: { row: number; bucket: number } | null, aloud: boolean): void {
    this.cell = cell;
    this.picture.schedule();
    this.drawSaid();
    if (aloud) this.events.announce(this.said.textContent ?? '');
  }

  private drawSaid(): void {
    if (!this.cell || !this.timeline || !this.rows[this.cell.row]) {
      replace(this.said, 'Point at a cell, or move with the arrows.');
      return;
    }
    const { name, values } = this.rows[this.cell.row]!;
    const value = values[this.cell.bucket] ?? null;
    replace(this.said, `${name} at ${clock(this.timeOf(this.cell.bucket), this.timeline.to_unix_ms - this.timeline.from_unix_ms)}: ${value === null ? 'not known' : measured(value, '%')}`);
  }

  private pick(cell: { row: number; bucket: number } | null): void {
    if (cell) this.events.pick(this.timeOf(cell.bucket));
  }

  private key(event: KeyboardEvent): void {
    if (!this.timeline || this.rows.length === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const by = event.shiftKey ? 10 : 1;
    const moves: Record<string, [number, number]> = { ArrowDown: [by, 0], ArrowUp: [-by, 0], ArrowRight: [0, by], ArrowLeft: [0, -by] };
    const move = moves[event.key];
    const at = this.cell ?? { row: 0, bucket: 0 };
    if (move) {
      const held = (value: number, count: number) => Math.min(count - 1, Math.max(0, value));
      this.point({ row: held(at.row + move[0], this.rows.length), bucket: held(at.bucket + move[1], this.timeline.buckets) }, true);
    } else if (event.key === 'Enter') this.pick(at);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private inWords(): string {
    const means = this.rows.map(({ name, values }) => {
      const known = values.filter((value): value is number => value !== null);
      return { name, mean: known.reduce((sum, value) => sum + value, 0) / Math.max(1, known.length) };
    });
    const busiest = [...means].sort((a, b) => b.mean - a.mean).slice(0, 3).map(({ name, mean }) => `${name} ${measured(mean, '%')}`);
    return `${this.rows.length} processors and GPUs over time, the busiest on average: ${busiest.join(', ')}`;
  }
}

function scale(): HTMLElement {
  const canvas = h('canvas', { width: 100, height: 10, 'aria-hidden': 'true' });
  const context = canvas.getContext('2d');
  for (let x = 0; context && x < 100; ++x) {
    context.fillStyle = colourAt(cividis(), x / 99);
    context.fillRect(x, 0, 1, 10);
  }
  return canvas;
}
