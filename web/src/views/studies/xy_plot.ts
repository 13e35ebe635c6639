// XyPlot: marks, bars and lines over two axes. Who points at a mark, or walks to it with the arrow keys, is told what it
// is; a click or Enter chooses it.
import { shortened } from '../../data/text';
import { Picture, type Frame } from '../../draw/canvas';
import { h } from '../../draw/dom';
import { Hint } from '../../draw/hint';
import type { Scale } from '../../draw/scales';
import { themeOf, type Theme } from '../../draw/theme';
import { drawMark } from './marks';
import type { TrialShape } from './states';

type Colour = (theme: Theme) => string;

export interface PlotMark {
  /** Of the trial. */
  id: string;
  x: number;
  /** A bar until there, in place of a shape. */
  until?: number;
  y: number;
  shape: TrialShape;
  colour: Colour;
  /** In words: made when somebody asks. */
  label(): string;
}

export interface PlotLine {
  points: readonly (readonly [x: number, y: number])[];
  colour: Colour;
  width?: number;
  alpha?: number;
  dash?: readonly number[];
  /** Stairs: each value holds until the next. */
  steps?: boolean;
  /** Who points at it is told this. */
  label?(): string;
  id?: string;
}

/** Where a picture under the marks is drawn, in CSS pixels. */
export interface Ground {
  context: CanvasRenderingContext2D;
  left: number;
  top: number;
  width: number;
  height: number;
  theme: Theme;
}

export interface PlotShown {
  x: Scale;
  y: Scale;
  xTitle: string;
  yTitle: string;
  marks: readonly PlotMark[];
  lines?: readonly PlotLine[];
  under?(ground: Ground): void;
  chosen?: string | undefined;
  /** Of the words left of the axis. */
  left?: number;
  /** CSS pixels from one of them to the next, at least. */
  between?: number;
}

const TOP = 22;
const RIGHT = 14;
const BOTTOM = 40;
const NEAR = 10;
const MOST_DRAWN_LARGE = 500;

interface Found {
  id?: string | undefined;
  label(): string;
}

interface Box {
  left: number;
  width: number;
  height: number;
}

export class XyPlot {
  readonly element: HTMLElement;
  private readonly picture: Picture;
  private readonly hint: Hint;
  private shown: PlotShown | null = null;
  private walked = -1;

  constructor(
    private readonly label: string,
    private readonly choose: (id: string) => void,
    kind = '',
  ) {
    this.element = h('div', { class: `xy-plot ${kind}`, role: 'slider', tabindex: 0, 'aria-label': label, 'aria-valuemin': 0, 'aria-valuemax': 0, 'aria-valuenow': 0,
      onkeydown: (event: KeyboardEvent) => this.press(event),
      onblur: () => this.leave(),
      onpointermove: (event: PointerEvent) => this.point(event),
      onpointerleave: () => this.hint.hide(),
      onclick: (event: MouseEvent) => this.pick(event) });
    this.picture = new Picture(this.element, label, (frame) => this.draw(frame), true);
    this.hint = new Hint(this.element);
  }

  show(shown: PlotShown): void {
    this.shown = { ...shown, marks: [...shown.marks].sort((a, b) => a.x - b.x) };
    this.element.setAttribute('aria-valuemax', String(Math.max(0, shown.marks.length - 1)));
    if (this.walked < 0) this.element.setAttribute('aria-valuetext', `${shown.marks.length} trials`);
    this.picture.describe(`${this.label}: ${shown.yTitle} by ${shown.xTitle}, ${shown.marks.length} trials`);
    this.picture.schedule();
  }

  destroy(): void {
    this.picture.destroy();
  }

  private box(width: number, height: number): Box {
    const left = this.shown!.left ?? 62;
    return { left, width: Math.max(1, width - left - RIGHT), height: Math.max(1, height - TOP - BOTTOM) };
  }

  private at(box: Box, x: number, y: number): [number, number] {
    return [box.left + this.shown!.x.place(x) * box.width, TOP + (1 - this.shown!.y.place(y)) * box.height];
  }

  private draw(frame: Frame): void {
    if (!this.shown) return;
    const theme = themeOf(this.element);
    const box = this.box(frame.width, frame.height);
    this.drawAxes(frame, box, theme);
    const { context } = frame;
    context.save();
    context.beginPath();
    context.rect(box.left - 6, TOP - 6, box.width + 12, box.height + 12);
    context.clip();
    this.shown.under?.({ context, left: box.left, top: TOP, width: box.width, height: box.height, theme });
    for (const line of this.shown.lines ?? []) this.drawLine(context, line, box, theme);
    this.drawMarks(context, box, theme);
    context.restore();
    if (this.shown.marks.length === 0) this.drawNothing(context, box, theme);
  }

  private drawNothing(context: CanvasRenderingContext2D, box: Box, theme: Theme): void {
    context.textAlign = 'center';
    context.fillStyle = theme.muted;
    context.fillText('no trial to show', box.left + box.width / 2, TOP + box.height / 2);
  }

  private drawAxes({ context, width, height }: Frame, box: Box, theme: Theme): void {
    const { x, y, xTitle, yTitle } = this.shown!;
    context.font = '12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    const most = Math.floor((box.left - 12) / 6.5);
    for (const { place, text } of y.ticks(Math.max(2, Math.floor(box.height / (this.shown!.between ?? 26))))) {
      const at = TOP + (1 - place) * box.height;
      context.fillStyle = theme.line;
      context.fillRect(box.left, Math.round(at), box.width, 1);
      context.fillStyle = theme.muted;
      context.fillText(shortened(text, most), box.left - 10, at); // a mark on the edge leaves it readable
    }
    context.textAlign = 'center';
    for (const { place, text } of x.ticks(Math.max(2, Math.floor(box.width / 56)))) {
      context.fillStyle = theme.muted;
      const words = shortened(text, 12);
      const half = context.measureText(words).width / 2;
      context.fillText(words, Math.min(width - half - 1, box.left + place * box.width), TOP + box.height + 15);
    }
    context.textAlign = 'left';
    context.fillStyle = theme.text;
    context.fillText(shortened(yTitle, 40), 2, 8);
    context.textAlign = 'right';
    context.fillText(shortened(xTitle, 40), width - RIGHT, height - 7);
  }

  private drawLine(context: CanvasRenderingContext2D, line: PlotLine, box: Box, theme: Theme): void {
    context.strokeStyle = line.colour(theme);
    context.lineWidth = line.width ?? 1.5;
    context.globalAlpha = line.alpha ?? 1;
    context.setLineDash([...(line.dash ?? [])]);
    context.beginPath();
    let before: number | null = null; // the height of the last point
    for (const [x, y] of line.points) {
      const [px, py] = this.at(box, x, y);
      if (!Number.isFinite(px) || !Number.isFinite(py)) {
        before = null;
        continue;
      }
      if (before === null) context.moveTo(px, py);
      else if (line.steps) context.lineTo(px, before);
      context.lineTo(px, py);
      before = py;
    }
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  private drawMarks(context: CanvasRenderingContext2D, box: Box, theme: Theme): void {
    const { marks, chosen } = this.shown!;
    const size = marks.length > MOST_DRAWN_LARGE ? 2.5 : 4;
    const standOut = marks.filter((mark, i) => mark.id === chosen || i === this.walked);
    for (const mark of marks) this.drawOne(context, mark, box, theme, size);
    for (const mark of standOut) {
      this.drawOne(context, mark, box, theme, size + 2);
      const [x, y] = this.at(box, mark.x, mark.y);
      context.strokeStyle = theme.text;
      context.lineWidth = 2;
      context.beginPath();
      if (mark.until === undefined) context.arc(x, y, size + 5, 0, 7);
      else context.rect(x, y - this.barHeight(box) / 2, this.barWidth(box, mark), this.barHeight(box));
      context.stroke();
    }
  }

  private drawOne(context: CanvasRenderingContext2D, mark: PlotMark, box: Box, theme: Theme, size: number): void {
    const [x, y] = this.at(box, mark.x, mark.y);
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    const colour = mark.colour(theme);
    if (mark.until === undefined) {
      drawMark(context, mark.shape, x, y, size, colour, theme.surface);
      return;
    }
    context.fillStyle = colour;
    const high = this.barHeight(box);
    context.fillRect(x, y - high / 2, this.barWidth(box, mark), high);
    if (high >= 12 && this.barWidth(box, mark) >= 16) drawMark(context, mark.shape, x + 8, y, 3, theme.surface, colour);
  }

  private barWidth(box: Box, mark: PlotMark): number {
    return Math.max(2, this.at(box, mark.until!, mark.y)[0] - this.at(box, mark.x, mark.y)[0] - 1);
  }

  private barHeight(box: Box): number {
    const lane = Math.abs(this.at(box, 0, 0)[1] - this.at(box, 0, 1)[1]);
    return Math.max(3, Math.min(18, lane * 0.75));
  }

  private point(event: PointerEvent): void {
    const found = this.nearest(event);
    this.element.classList.toggle('over-mark', found?.id !== undefined);
    if (found) this.hint.show(found.label(), event.offsetX, event.offsetY);
    else this.hint.hide();
  }

  private pick(event: MouseEvent): void {
    const id = this.nearest(event)?.id;
    if (id !== undefined) this.choose(id);
  }

  private nearest({ offsetX, offsetY }: MouseEvent): Found | undefined {
    if (!this.shown) return undefined;
    const box = this.box(this.element.clientWidth, this.element.clientHeight);
    let found: Found | undefined;
    let least = NEAR;
    for (const mark of this.shown.marks) {
      const [x, y] = this.at(box, mark.x, mark.y);
      const right = mark.until === undefined ? x : x + this.barWidth(box, mark);
      const distance = Math.hypot(offsetX - Math.min(right, Math.max(x, offsetX)), offsetY - y);
      if (distance < least) [found, least] = [mark, distance];
    }
    if (found) return found;
    for (const { points, id, label } of this.shown.lines ?? []) {
      if (label === undefined) continue;
      for (const [x, y] of points) {
        const [px, py] = this.at(box, x, y);
        const distance = Math.hypot(offsetX - px, offsetY - py);
        if (distance < least) [found, least] = [{ id, label }, distance];
      }
    }
    return found;
  }

  private press(event: KeyboardEvent): void {
    const marks = this.shown?.marks ?? [];
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === 'Enter' && marks[this.walked]) this.choose(marks[this.walked]!.id);
    else if (by !== undefined && marks.length > 0) this.walk(Math.min(marks.length - 1, Math.max(0, this.walked + by)));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private walk(to: number): void {
    const mark = this.shown!.marks[to]!;
    this.walked = to;
    this.element.setAttribute('aria-valuenow', String(to));
    this.element.setAttribute('aria-valuetext', mark.label());
    this.hint.show(mark.label(), ...this.at(this.box(this.element.clientWidth, this.element.clientHeight), mark.x, mark.y));
    this.picture.schedule();
  }

  private leave(): void {
    if (this.walked < 0) return;
    this.walked = -1;
    this.hint.hide();
    this.picture.schedule();
  }
}
