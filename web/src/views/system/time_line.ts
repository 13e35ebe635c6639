// TimeLine: system and phases on one axis. Pointed at it reads the numbers, a drag zooms, a click goes to the step.
import { categoryOf } from '../../draw/colours';
import { h, replace, s } from '../../draw/dom';
import { phaseWords } from '../../draw/phase_colours';
import type { Theme } from '../../draw/theme';
import type { Timeline, Values } from './api';
import { lineName, machinesIn, meanOf, MOST_LINES, type Lane } from './lanes';
import { marker, phaseFill } from './phase_bars';
import { svgOf, swatch } from './shapes';
import { TimeAxis, within, zoomed, RIGHT, type Stretch } from './time_axis';
import { layoutTimeLine, MARKS_HIGH, stackedPhases, type TimeLineLayout } from './time_line_layout';
import { clock, measured, percent } from './words';

export interface TimeMark {
  unixMs: number;
  text: string;
  step: number;
}

export interface TimeLineContent {
  timeline: Timeline;
  lanes: readonly Lane[];
  worker: string | undefined;
  /** All there is, of which the timeline may be a part. */
  whole: Stretch;
  /** When the shared step ended. */
  cursorMs: number | undefined;
  marks: readonly TimeMark[];
  theme: Theme;
}

export interface TimeLineEvents {
  zoom(stretch: Stretch | null): void;
  pick(unixMs: number): void;
  announce(text: string): void;
}

export class TimeLine {
  readonly element: HTMLElement;
  private readonly base = h('div', {});
  private readonly overlay = s('svg', { class: 'overlay', 'aria-hidden': 'true' });
  private readonly surface: HTMLElement;
  private readonly readout = h('div', { class: 'readout' });
  private content: TimeLineContent | null = null;
  private axis: TimeAxis = new TimeAxis({ from: 0, to: 1 }, 600);
  private layout: TimeLineLayout | null = null;
  private phases: { phase: string; values: Values }[] = [];
  private pointed: number | null = null; // a time
  private dragFrom: number | null = null;

  constructor(private readonly events: TimeLineEvents) {
    this.surface = h('div', { class: 'time-line', tabindex: 0, role: 'application', 'aria-roledescription': 'time line', 'aria-label': 'Time line',
      'aria-description': 'Left and right read the numbers, Enter goes to the step, plus and minus zoom, comma and full stop move, 0 shows all' }, this.base, this.overlay);
    this.element = h('div', {}, this.surface, this.readout);
    this.surface.addEventListener('pointerdown', (event) => this.down(event));
    this.surface.addEventListener('pointermove', (event) => this.move(event));
    this.surface.addEventListener('pointerup', (event) => this.up(event));
    this.surface.addEventListener('pointerleave', () => this.leave());
    this.surface.addEventListener('dblclick', () => this.events.zoom(null));
    this.surface.addEventListener('keydown', (event) => this.key(event));
  }

  show(content: TimeLineContent, width: number): void {
    this.content = content;
    const { timeline, lanes, worker, theme } = content;
    this.axis = new TimeAxis({ from: timeline.from_unix_ms, to: timeline.to_unix_ms }, width);
    this.phases = stackedPhases(timeline.phases, worker, timeline.buckets);
    this.layout = layoutTimeLine(timeline, this.phases, lanes, this.axis, theme);
    replace(this.base, svgOf(this.layout, theme.ground));
    this.surface.setAttribute('aria-label', this.layout.title);
    this.drawOverlay();
    this.drawReadout();
  }

  /** As a drawing for files. */
  drawing(width: number, theme: Theme): TimeLineLayout | null {
    if (!this.content) return null;
    const { timeline, lanes } = this.content;
    return layoutTimeLine(timeline, this.phases, lanes, new TimeAxis({ from: timeline.from_unix_ms, to: timeline.to_unix_ms }, width), theme);
  }

  moveCursor(cursorMs: number | undefined): void {
    if (this.content) this.content.cursorMs = cursorMs;
    this.drawOverlay();
  }

  private drawOverlay(): void {
    const { content, layout } = this;
    if (!content || !layout) return;
    const { theme } = content;
    this.overlay.setAttribute('width', String(layout.width));
    this.overlay.setAttribute('height', String(layout.height));
    const inside = (x: number) => x >= this.axis.left - 0.5 && x <= layout.width - RIGHT + 0.5;
    const upright = (at: number, colour: string, dash?: string) => {
      const x = this.axis.x(at);
      return inside(x) ? s('path', { d: `M${x} ${MARKS_HIGH - 2}V${layout.bottom}`, stroke: colour, 'stroke-width': 1.5, 'stroke-dasharray': dash }) : undefined;
    };
    const marks = content.marks.filter(({ unixMs }) => inside(this.axis.x(unixMs))).slice(0, 500);
    const selection = this.dragFrom !== null && this.pointed !== null ? [this.axis.x(this.dragFrom), this.axis.x(this.pointed)].sort((a, b) => a - b) : null;
    replace(this.overlay,
      ...marks.map(({ unixMs, text }) => s('path', { d: marker(this.axis.x(unixMs), MARKS_HIGH - 3), fill: theme.bad }, s('title', {}, text))),
      selection && s('rect', { x: selection[0], y: MARKS_HIGH, width: selection[1]! - selection[0]!, height: layout.bottom - MARKS_HIGH, fill: theme.accent, opacity: 0.2 }),
      content.cursorMs !== undefined && upright(content.cursorMs, theme.accent),
      this.pointed !== null && upright(this.pointed, theme.muted, '2 3'));
  }

  private bucketAt(unixMs: number): number {
    const { from_unix_ms, to_unix_ms, buckets } = this.content!.timeline;
    return Math.min(buckets - 1, Math.max(0, Math.floor(((unixMs - from_unix_ms) / Math.max(1e-9, to_unix_ms - from_unix_ms)) * buckets)));
  }

  /** The legend with the numbers: at the place that is pointed at, else their means. */
  private drawReadout(): void {
    if (!this.content) return;
    const { timeline, lanes, theme } = this.content;
    const many = machinesIn(timeline.system) > 1;
    const at = this.pointed === null ? null : this.bucketAt(this.pointed);
    const value = (values: Values) => (at === null ? meanOf(values) : (values[at] ?? null));
    const when = this.pointed === null ? `Means, ${clock(timeline.from_unix_ms, 0).slice(0, 8)} to ${clock(timeline.to_unix_ms, 0).slice(0, 8)}` : `At ${clock(this.pointed, timeline.to_unix_ms - timeline.from_unix_ms)}`;
    const phases = this.phases.filter(({ values }) => (meanOf(values) ?? 0) > 5e-4).map(({ phase, values }) => {
      const { fill, hatched } = phaseFill(phase, theme.dark);
      return h('li', {}, swatch(fill, hatched, theme.ground), phaseWords(phase), h('b', {}, percent(value(values))));
    });
    const machine = lanes.map((lane) => h('ul', { 'aria-label': lane.title }, h('li', { class: 'muted' }, lane.title),
      ...lane.lines.slice(0, MOST_LINES).map((line, i) => {
        const category = categoryOf(i);
        const stroke = theme.dark ? category.dark : category.light;
        return h('li', {}, s('svg', { width: 18, height: 12, 'aria-hidden': 'true' }, s('path', { d: 'M0 6h18', stroke, 'stroke-width': 2.5, 'stroke-dasharray': category.dash.length > 0 ? category.dash.join(' ') : undefined })),
          lineName(line, many), h('b', {}, measured(value(line.values), lane.unit)));
      }),
      lane.lines.length > MOST_LINES && h('li', { class: 'muted' }, `and ${lane.lines.length - MOST_LINES} more`)));
    replace(this.readout, h('p', { class: 'muted when' }, when), phases.length > 0 && h('ul', { 'aria-label': 'Phases' }, h('li', { class: 'muted' }, 'Phases'), ...phases), ...machine);
  }

  private inWords(): string {
    if (!this.content || this.pointed === null) return '';
    const { timeline, lanes } = this.content;
    const at = this.bucketAt(this.pointed);
    const many = machinesIn(timeline.system) > 1;
    const phases = this.phases.filter(({ values }) => (values[at] ?? 0) >= 0.05).map(({ phase, values }) => `${phaseWords(phase)} ${percent(values[at]!)}`);
    const machine = lanes.flatMap((lane) => lane.lines.slice(0, 2).map((line) => `${lineName(line, many)} ${measured(line.values[at], lane.unit)}`));
    return [`At ${clock(this.pointed, timeline.to_unix_ms - timeline.from_unix_ms)}`, ...phases, ...machine].join(', ');
  }

  private timeAt(event: MouseEvent): number {
    return this.axis.time(event.clientX - this.surface.getBoundingClientRect().left);
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0 || !this.content) return;
    this.dragFrom = this.timeAt(event);
    this.surface.setPointerCapture?.(event.pointerId);
  }

  private move(event: PointerEvent): void {
    if (!this.content) return;
    this.pointed = this.timeAt(event);
    this.drawOverlay();
    this.drawReadout();
  }

  private up(event: PointerEvent): void {
    const from = this.dragFrom;
    this.dragFrom = null;
    if (from === null || !this.content) return;
    const to = this.timeAt(event);
    if (Math.abs(this.axis.x(to) - this.axis.x(from)) < 4) this.events.pick(to);
    else this.zoomTo({ from: Math.min(from, to), to: Math.max(from, to) });
    this.drawOverlay();
  }

  private leave(): void {
    if (this.dragFrom !== null) return;
    this.pointed = null;
    this.drawOverlay();
    this.drawReadout();
  }

  private zoomTo(wanted: Stretch): void {
    const { whole } = this.content!;
    const stretch = within(wanted, whole);
    const isAll = stretch.to - stretch.from >= 0.999 * (whole.to - whole.from);
    this.events.zoom(isAll ? null : stretch);
    this.events.announce(isAll ? 'The whole run' : `From ${clock(stretch.from, 0)} to ${clock(stretch.to, 0)}`);
  }

  private key(event: KeyboardEvent): void {
    if (!this.content || event.ctrlKey || event.metaKey || event.altKey) return;
    const { from_unix_ms: from, to_unix_ms: to, buckets } = this.content.timeline;
    const width = to - from;
    const middle = this.pointed ?? (from + to) / 2;
    const step = (event.shiftKey ? 20 : 1) * (width / Math.max(1, buckets));
    const does: Record<string, () => void> = {
      ArrowLeft: () => this.point(middle - step), ArrowRight: () => this.point(middle + step),
      Home: () => this.point(from), End: () => this.point(to - 1e-6 * width),
      Enter: () => this.events.pick(middle),
      '+': () => this.zoomTo(zoomed({ from, to }, 2, middle)), '=': () => this.zoomTo(zoomed({ from, to }, 2, middle)), '-': () => this.zoomTo(zoomed({ from, to }, 0.5, middle)),
      ',': () => this.zoomTo({ from: from - width / 4, to: to - width / 4 }), '.': () => this.zoomTo({ from: from + width / 4, to: to + width / 4 }),
      '0': () => this.zoomTo(this.content!.whole),
    };
    const act = does[event.key];
    if (!act) return;
    act();
    event.preventDefault();
    event.stopPropagation(); // arrows are the time bar's elsewhere
  }

  private point(unixMs: number): void {
    const { from, to } = this.axis.stretch;
    this.pointed = Math.min(to, Math.max(from, unixMs));
    this.drawOverlay();
    this.drawReadout();
    this.events.announce(this.inWords());
  }
}
