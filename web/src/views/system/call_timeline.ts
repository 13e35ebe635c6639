// CallTimeline: the operator calls of a step on a canvas, by track and depth: dragged, enlarged, and read call by call.
import { shown, shortened } from '../../data/text';
import { Picture, type Frame } from '../../draw/canvas';
import { categoryOf } from '../../draw/colours';
import { h } from '../../draw/dom';
import { themeOf, type Theme } from '../../draw/theme';
import type { CallBlock, CallIndex } from './call_index';
import { fitting } from './fitting';
import { HEAD, laneAt, ROW, rowsOf, type TrackRow } from './call_rows';
import { MEMORY_HIGH, type DeviceMemory, drawMemory } from './memory_lane';
import { time } from './words';

const LEFT = 0;
const AXIS = 20;
const MOST_HIGH = 460;
const LEAST_NS = 100; // the narrowest stretch

export interface CallTimelineEvents {
  choose(call: number | undefined, aloud: boolean): void;
  drawn(): void;
}

export class CallTimeline {
  readonly box = h('div', { class: 'calls', tabindex: 0, role: 'application', 'aria-roledescription': 'time line of calls', 'aria-label': 'Operator calls',
    'aria-description': 'Left and right go to the next call, down and up to the calls within and around it, plus and minus zoom, comma and full stop move, 0 shows all, Enter shows the call as wide as the picture' });
  private readonly picture: Picture;
  private index: CallIndex | null = null;
  private rows: TrackRow[] = [];
  private memory: readonly DeviceMemory[] = [];
  private high = 0; // of all rows
  private from = 0;
  private to = 1;
  private top = 0; // rows above the picture, in pixels
  private chosen: number | undefined;
  private found: ReadonlySet<number> | null = null; // names that are searched for
  private drag: { x: number; y: number; from: number; to: number; top: number; moved: boolean } | null = null;

  constructor(private readonly events: CallTimelineEvents) {
    this.picture = new Picture(this.box, 'Operator calls', (frame) => this.draw(frame, themeOf(this.box)));
    this.box.addEventListener('pointerdown', (event) => this.down(event));
    this.box.addEventListener('pointermove', (event) => this.move(event));
    this.box.addEventListener('pointerup', (event) => this.up(event));
    this.box.addEventListener('dblclick', () => this.enlarge());
    this.box.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    this.box.addEventListener('keydown', (event) => this.key(event));
  }

  show(index: CallIndex, memory: readonly DeviceMemory[], label: string): void {
    this.index = index;
    this.memory = memory;
    const { rows, height } = rowsOf(index);
    this.rows = rows;
    this.high = height;
    this.chosen = undefined;
    this.box.style.height = `${Math.min(MOST_HIGH, height + AXIS + this.memoryHigh() + 2)}px`;
    this.picture.describe(label);
    this.box.setAttribute('aria-label', label);
    this.fit();
  }

  search(text: string): number {
    const { index } = this;
    const wanted = text.toLowerCase();
    this.found = text === '' || !index ? null : new Set(index.calls.names.flatMap((name, i) => (name.toLowerCase().includes(wanted) ? [i] : [])));
    this.picture.schedule();
    return this.found?.size ?? 0;
  }

  fit(): void {
    this.from = 0;
    this.to = Math.max(LEAST_NS, this.index?.end ?? 1);
    this.top = 0;
    this.picture.schedule();
  }

  zoom(factor: number, share = 0.5): void {
    const at = this.from + share * (this.to - this.from);
    this.look(at - (at - this.from) / factor, at + (this.to - at) / factor);
  }

  /** By a share of what is in sight. */
  pan(share: number): void {
    const by = share * (this.to - this.from);
    this.look(this.from + by, this.to + by);
  }

  choose(call: number | undefined, aloud: boolean): void {
    this.chosen = call;
    if (call !== undefined) this.reveal(call);
    this.events.choose(call, aloud);
    this.picture.schedule();
  }

  png(): Promise<Blob> {
    return this.picture.png();
  }

  redraw(): void {
    this.picture.drawNow();
  }

  destroy(): void {
    this.picture.destroy();
  }

  private memoryHigh(): number {
    return this.memory.length > 0 ? MEMORY_HIGH : 0;
  }

  private look(from: number, to: number): void {
    const end = Math.max(LEAST_NS, this.index?.end ?? 1);
    const length = Math.min(end, Math.max(LEAST_NS, to - from));
    this.from = Math.min(Math.max(0, length === to - from ? from : (from + to - length) / 2), end - length);
    this.to = this.from + length;
    this.picture.schedule();
  }

  private scroll(top: number): void {
    const room = (this.box.clientHeight || MOST_HIGH) - AXIS - this.memoryHigh();
    this.top = Math.max(0, Math.min(top, this.high - room));
    this.picture.schedule();
  }

  private reveal(call: number): void {
    const { start, duration, track, depth } = this.index!.calls;
    const [from, to] = [start[call]!, start[call]! + duration[call]!];
    if (to < this.from || from > this.to) this.look(from - (this.to - this.from) / 2, from + (this.to - this.from) / 2);
    const row = this.rows.find((each) => each.track === track[call])?.lanes.find(({ lane }) => lane.depth === depth[call]);
    const room = (this.box.clientHeight || MOST_HIGH) - AXIS - this.memoryHigh();
    if (row && (row.top < this.top || row.top + ROW > this.top + room)) this.scroll(row.top - room / 2);
  }

  private enlarge(): void {
    if (this.chosen === undefined || !this.index) return;
    const { start, duration } = this.index.calls;
    const long = Math.max(LEAST_NS, duration[this.chosen]!);
    this.look(start[this.chosen]! - 0.05 * long, start[this.chosen]! + 1.05 * long);
  }

  // --- drawing

  private draw(frame: Frame, theme: Theme): void {
    const { context, width, height } = frame;
    const { index } = this;
    if (!index || width <= LEFT) return;
    const pixel = (this.to - this.from) / (width - LEFT);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const bottom = height - this.memoryHigh();
    this.drawAxis(frame, theme, bottom);
    context.save();
    context.beginPath();
    context.rect(LEFT, AXIS, width - LEFT, bottom - AXIS);
    context.clip();
    for (const row of this.rows) this.drawTrack(context, row, pixel, width, bottom, theme);
    context.restore();
    this.drawScroll(context, width, bottom, theme);
    if (this.memory.length > 0) drawMemory(context, this.memory, { from: this.from, to: this.to }, { top: bottom, width }, theme);
    this.events.drawn();
  }

  private drawTrack(context: CanvasRenderingContext2D, row: TrackRow, pixel: number, width: number, bottom: number, theme: Theme): void {
    const y = (top: number) => top - this.top + AXIS;
    const { index } = this;
    for (const { lane, top } of row.lanes) {
      if (y(top) + ROW < AXIS || y(top) > bottom) continue;
      index!.blocks(lane, this.from, this.to, pixel, (block) => this.drawBlock(context, block, pixel, y(top), width, theme));
    }
    const head = y(row.top);
    if (head > bottom || head + HEAD < AXIS) return;
    context.fillStyle = theme.text;
    context.fillText(shortened(shown(index!.calls.tracks[row.track] ?? `track ${row.track}`), 60), 4, head + HEAD / 2 + 1);
  }

  private drawBlock(context: CanvasRenderingContext2D, { start, end, call, many }: CallBlock, pixel: number, y: number, width: number, theme: Theme): void {
    const { kind, name, names } = this.index!.calls;
    const x = Math.max(LEFT, LEFT + (start - this.from) / pixel);
    const right = Math.min(width, LEFT + (end - this.from) / pixel);
    const wide = Math.max(1, right - x - (right - x > 4 ? 1 : 0));
    const category = categoryOf(kind[call]!);
    const fits = this.found === null || this.found.has(name[call]!);
    context.globalAlpha = !fits ? 0.18 : many > 1 ? 0.7 : name[call]! % 2 === 0 ? 1 : 0.88;
    context.fillStyle = theme.dark ? category.dark : category.light;
    context.fillRect(x, y, wide, ROW - 2);
    context.globalAlpha = 1;
    if (call === this.chosen && many === 1) {
      context.strokeStyle = theme.text;
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 1, Math.max(1, wide - 2), ROW - 4);
    }
    if (many > 1 || wide < 30 || !fits) return;
    context.fillStyle = theme.dark ? '#0b1620' : '#ffffff';
    context.fillText(fitting(shown(names[name[call]!] ?? ''), Math.floor((wide - 8) / 5.6)), x + 4, y + ROW / 2 - 0.5, wide - 6);
  }

  private drawAxis({ context, width }: Frame, theme: Theme, bottom: number): void {
    const span = this.to - this.from;
    const ten = 10 ** Math.floor(Math.log10((span * 90) / width));
    const step = [1, 2, 5, 10].map((each) => each * ten).find((each) => each >= (span * 90) / width)!;
    for (let at = Math.ceil(this.from / step) * step; at <= this.to; at += step) {
      const x = LEFT + ((at - this.from) / span) * (width - LEFT);
      context.fillStyle = theme.line;
      context.fillRect(Math.round(x), AXIS - 4, 1, bottom - AXIS + 4);
      context.fillStyle = theme.muted;
      const text = at === 0 ? '0' : time(at / 1e6);
      if (x + 60 < width) context.fillText(text, x + 3, 9);
    }
  }

  /** Where there are more rows than room. */
  private drawScroll(context: CanvasRenderingContext2D, width: number, bottom: number, theme: Theme): void {
    const room = bottom - AXIS;
    if (this.high <= room) return;
    context.fillStyle = theme.muted;
    context.fillRect(width - 5, AXIS + (this.top / this.high) * room, 4, Math.max(16, (room / this.high) * room));
  }

  // --- pointing

  private callAt(event: MouseEvent): number | undefined {
    const { index } = this;
    if (!index) return undefined;
    const box = this.box.getBoundingClientRect();
    const pixel = (this.to - this.from) / Math.max(1, box.width - LEFT);
    const lane = laneAt(this.rows, event.clientY - box.top - AXIS + this.top);
    return lane && index.at(lane, this.from + (event.clientX - box.left - LEFT) * pixel, 2 * pixel);
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.drag = { x: event.clientX, y: event.clientY, from: this.from, to: this.to, top: this.top, moved: false };
    this.box.setPointerCapture?.(event.pointerId);
  }

  private move(event: PointerEvent): void {
    const { drag } = this;
    if (!drag) {
      this.box.title = this.titleOf(this.callAt(event));
      return;
    }
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.hypot(dx, dy) < 4) return;
    drag.moved = true;
    const by = (-dx * (drag.to - drag.from)) / Math.max(1, this.box.clientWidth - LEFT);
    this.look(drag.from + by, drag.to + by);
    this.scroll(drag.top - dy);
  }

  private titleOf(call: number | undefined): string {
    if (call === undefined || !this.index) return '';
    const { names, name, duration } = this.index.calls;
    return `${shown(names[name[call]!] ?? '')}, ${time(duration[call]! / 1e6)}`;
  }

  private up(event: PointerEvent): void {
    const { drag } = this;
    this.drag = null;
    if (drag && !drag.moved) this.choose(this.callAt(event), false);
  }

  /** Zooms with Ctrl, and without when the picture has the focus: a page that is scrolled must not be caught. */
  private wheel(event: WheelEvent): void {
    if (!event.ctrlKey && document.activeElement !== this.box) return;
    event.preventDefault();
    const box = this.box.getBoundingClientRect();
    if (event.shiftKey) this.scroll(this.top + event.deltaY);
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(event.deltaX / Math.max(1, box.width));
    else this.zoom(Math.exp(-event.deltaY / 300), (event.clientX - box.left - LEFT) / Math.max(1, box.width - LEFT));
  }

  private key(event: KeyboardEvent): void {
    const { index } = this;
    if (!index || index.count === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.chosen;
    const go = (next: number | undefined) => next !== undefined && this.choose(next, true);
    const first = () => go(index.order[index.lanes[0]!.from]);
    const does: Record<string, () => void> = {
      ArrowRight: () => (at === undefined ? first() : go(index.neighbour(at, 1))), ArrowLeft: () => (at === undefined ? first() : go(index.neighbour(at, -1))),
      ArrowDown: () => (at === undefined ? first() : go(index.children(at).next().value as number | undefined)), ArrowUp: () => (at === undefined ? first() : go(index.parent(at))),
      Enter: () => this.enlarge(), PageDown: () => this.scroll(this.top + 200), PageUp: () => this.scroll(this.top - 200),
      '+': () => this.zoom(1.5), '=': () => this.zoom(1.5), '-': () => this.zoom(1 / 1.5), ',': () => this.pan(-0.25), '.': () => this.pan(0.25), '0': () => this.fit(),
    };
    const act = does[event.key];
    if (!act) return;
    act();
    event.preventDefault();
    event.stopPropagation(); // arrows are the time bar's elsewhere
  }
}
