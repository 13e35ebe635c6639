// ParallelCoordinates: an axis for each value and a line for each row. A range on an axis, dragged or moved by keys,
// leaves rows out. Knows nothing of what the rows are.
import './parallel.css';

import { withBrush, isWithin, type Brushes } from './brush';
import { Picture, type Frame } from './canvas';
import { rankColour } from './colours';
import { h, replace } from './dom';
import { keepingFocus } from './focus';
import { Hint } from './hint';
import { AxisHandles } from './parallel_axis';
import type { Scale } from './scales';
import { themeOf, type Theme } from './theme';
import { shortened } from '../data/text';

export interface ParallelAxis {
  id: string;
  title: string;
  scale: Scale;
  /** How many presses of a key go from end to end. */
  presses: number;
}

export interface ParallelLine {
  id: string;
  /** In words, for who points at it: made when somebody does. */
  label(): string;
  /** On each axis; NaN: it has none there. */
  values: readonly number[];
  /** From 0, the worst, to 1, the best; NaN: nobody knows. */
  rank: number;
}

export interface ParallelShown {
  axes: readonly ParallelAxis[];
  lines: readonly ParallelLine[];
  brushes: Brushes;
  /** The id of the line that stands out. */
  chosen?: string | undefined;
}

const TOP = 30;
const BOTTOM = 12;
const SIDE = 64;
const AXIS_WIDTH = 112; // CSS pixels, at least
const NEAR = 8;

export class ParallelCoordinates {
  readonly element = h('div', { class: 'parallel' });
  private readonly field = h('div', { class: 'parallel-field' });
  private readonly handles = h('div');
  private readonly picture: Picture;
  private readonly over: Picture; // the lines that stand out: drawn without the others, which may be thousands
  private readonly hint: Hint;
  private marked: string | undefined;
  private shown: ParallelShown = { axes: [], lines: [], brushes: new Map() };

  constructor(
    label: string,
    private readonly brush: (brushes: Brushes) => void,
    private readonly choose: (id: string) => void,
    /** The line that is pointed at; undefined: none. */
    private readonly hover: (id: string | undefined) => void = () => {},
  ) {
    this.picture = new Picture(this.field, label, (frame) => this.draw(frame), true);
    this.over = new Picture(this.field, '', (frame) => this.drawOver(frame), true);
    this.over.canvas.setAttribute('aria-hidden', 'true');
    this.over.canvas.classList.add('over');
    this.field.append(this.handles);
    this.hint = new Hint(this.field);
    this.field.addEventListener('pointermove', (event) => this.point(event));
    this.field.addEventListener('pointerleave', () => this.leave());
    this.picture.canvas.addEventListener('click', (event) => this.pick(event));
    replace(this.element, this.field);
  }

  show(shown: ParallelShown): void {
    const isSame = JSON.stringify(this.shown.axes.map(({ id, title }) => [id, title])) === JSON.stringify(shown.axes.map(({ id, title }) => [id, title]));
    this.shown = shown;
    this.field.style.minWidth = `${2 * SIDE + AXIS_WIDTH * Math.max(0, shown.axes.length - 1)}px`;
    if (isSame) this.axes.forEach((axis, i) => axis.show(shown.axes[i]!, this.rangeOf(shown.axes[i]!)));
    else keepingFocus(this.handles, () => this.makeHandles());
    this.picture.schedule();
    this.over.schedule();
  }

  /** The line of this id stands out until another one does. */
  mark(id: string | undefined): void {
    if (id === this.marked) return;
    this.marked = id;
    this.over.schedule();
  }

  destroy(): void {
    this.picture.destroy();
    this.over.destroy();
  }

  private axes: AxisHandles[] = [];

  private makeHandles(): void {
    const last = Math.max(1, this.shown.axes.length - 1);
    this.axes = this.shown.axes.map((axis, i) => new AxisHandles(axis, this.rangeOf(axis), i / last, (range) => this.brush(withBrush(this.shown.brushes, axis.id, range))));
    replace(this.handles, ...this.axes.map(({ element }) => element));
  }

  private rangeOf({ id }: ParallelAxis): readonly [number, number] | undefined {
    return this.shown.brushes.get(id);
  }

  private isIn(line: ParallelLine): boolean {
    return isWithin(this.shown.brushes, (id) => line.values[this.shown.axes.findIndex((axis) => axis.id === id)] ?? NaN);
  }

  /** For a title above its axis, beside the others and at the border. */
  private room(width: number): number {
    return Math.min(2 * SIDE, (width - 2 * SIDE) / Math.max(1, this.shown.axes.length - 1)) - 10;
  }

  private x(axis: number, width: number): number {
    return SIDE + (axis / Math.max(1, this.shown.axes.length - 1)) * (width - 2 * SIDE);
  }

  private y(axis: number, value: number, height: number): number {
    return height - BOTTOM - this.shown.axes[axis]!.scale.place(value) * (height - TOP - BOTTOM);
  }

  private draw(frame: Frame): void {
    const theme = themeOf(this.field);
    const { lines } = this.shown;
    const order = [...lines].sort((a, b) => (Number.isNaN(a.rank) ? -1 : a.rank) - (Number.isNaN(b.rank) ? -1 : b.rank));
    const [within, without] = [order.filter((line) => this.isIn(line)), order.filter((line) => !this.isIn(line))];
    const faint = Math.min(0.75, Math.max(0.05, 100 / Math.max(1, lines.length))); // many lines are seen through each other
    for (const line of without) this.drawLine(frame, line, theme.line, 1, faint / 2);
    for (const line of within) this.drawLine(frame, line, Number.isNaN(line.rank) ? theme.muted : rankColour(line.rank, theme.dark), 1.5, line.rank > 0.9 ? Math.min(1, 4 * faint) : faint);
    this.shown.axes.forEach((axis, i) => this.drawAxis(frame, axis, i, theme));
  }

  private drawOver(frame: Frame): void {
    const theme = themeOf(this.field);
    for (const id of [this.shown.chosen, this.marked]) {
      const line = id === undefined ? undefined : this.shown.lines.find((each) => each.id === id);
      if (!line) continue;
      this.drawLine(frame, line, theme.surface, 6, 1);
      this.drawLine(frame, line, theme.text, 3, 1);
    }
  }

  /** A value that is not there leaves a gap. */
  private drawLine({ context, width, height }: Frame, line: ParallelLine, colour: string, thick: number, alpha: number): void {
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.globalAlpha = alpha;
    context.beginPath();
    let pen = false;
    line.values.forEach((value, i) => {
      const y = this.y(i, value, height);
      if (!Number.isFinite(y)) {
        pen = false;
        return;
      }
      if (pen) context.lineTo(this.x(i, width), y);
      else context.moveTo(this.x(i, width), y);
      pen = true;
    });
    context.stroke();
    context.globalAlpha = 1;
  }

  private drawAxis({ context, width, height }: Frame, axis: ParallelAxis, i: number, theme: Theme): void {
    const x = this.x(i, width);
    context.strokeStyle = theme.muted;
    context.lineWidth = 1;
    context.strokeRect(x, TOP, 0, height - TOP - BOTTOM);
    context.font = '12px system-ui, sans-serif';
    context.textAlign = 'center';
    context.textBaseline = 'alphabetic';
    context.fillStyle = theme.text;
    context.fillText(fitting(context, axis.title, this.room(width)), x, TOP - 14);
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    for (const { place, text } of axis.scale.ticks(Math.max(2, Math.floor(height / 60)))) {
      const y = height - BOTTOM - place * (height - TOP - BOTTOM);
      if (y >= TOP - 1 && y <= height - BOTTOM + 1) writeTick(context, x, y, shortened(text, 12), theme);
    }
  }

  private point(event: PointerEvent): void {
    const found = event.target === this.picture.canvas ? this.lineAt(event) : undefined;
    this.picture.canvas.classList.toggle('over-line', found !== undefined);
    if (found?.id !== this.marked) this.hover(found?.id);
    this.mark(found?.id);
    if (found) this.hint.show(found.label(), event.offsetX, event.offsetY);
    else this.hint.hide();
  }

  private leave(): void {
    this.hint.hide();
    if (this.marked !== undefined) this.hover(undefined);
    this.mark(undefined);
  }

  private pick(event: MouseEvent): void {
    const found = this.lineAt(event);
    if (found) this.choose(found.id);
  }

  /** The nearest line of those that count. */
  private lineAt({ offsetX, offsetY }: MouseEvent): ParallelLine | undefined {
    const [width, height] = [this.field.clientWidth, this.field.clientHeight];
    const at = ((offsetX - SIDE) / (width - 2 * SIDE)) * (this.shown.axes.length - 1);
    const left = Math.min(Math.max(0, Math.floor(at)), this.shown.axes.length - 2);
    if (left < 0) return undefined;
    let nearest: { line: ParallelLine; distance: number } | undefined;
    for (const line of this.shown.lines) {
      if (!this.isIn(line)) continue;
      const [a, b] = [this.y(left, line.values[left]!, height), this.y(left + 1, line.values[left + 1]!, height)];
      const distance = Math.abs(a + (b - a) * (at - left) - offsetY);
      if (distance < (nearest?.distance ?? NEAR)) nearest = { line, distance };
    }
    return nearest?.line;
  }
}

function fitting(context: CanvasRenderingContext2D, text: string, room: number): string {
  let most = 24;
  while (most > 5 && context.measureText(shortened(text, most)).width > room) --most;
  return shortened(text, most);
}

/** With a rim in the colour of the ground, so that it can be read over lines. */
function writeTick(context: CanvasRenderingContext2D, x: number, y: number, text: string, theme: Theme): void {
  context.fillStyle = theme.muted;
  context.fillRect(x - 3, y, 6, 1);
  context.strokeStyle = theme.surface;
  context.lineWidth = 3;
  context.lineJoin = 'round';
  context.strokeText(text, x + 7, y);
  context.fillStyle = theme.text;
  context.fillText(text, x + 7, y);
}
