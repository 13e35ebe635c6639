// The part of the view with one axis of time: the time line, the heat map, and what chooses their stretch and worker.
import type { Firing } from '../../data/firings';
import { SourceError } from '../../data/source';
import { h, replace } from '../../draw/dom';
import type { Theme } from '../../draw/theme';
import type { ViewContext } from '../view';
import type { ProfileAnswer, Timeline } from './api';
import { HeatMap } from './heat_map';
import { lanesOf, USUAL_LANES, type Lane } from './lanes';
import { part, type Drawing } from './shapes';
import type { StepTimes } from '../../data/step_times';
import { within, zoomed, type Stretch } from './time_axis';
import { TimeLine, type TimeMark } from './time_line';
import { clock } from './words';

type Params = Readonly<Record<string, string>>;

export interface TimeLineState {
  answer: ProfileAnswer;
  stepTimes: StepTimes;
  firings: readonly Firing[];
  cursorMs: number | undefined;
  width: number;
  theme: Theme;
}

/** The stretch of the link's words, null for all of the run. */
export function stretchOf(params: Params): Stretch | null {
  const [from, to] = [Number(params['from']), Number(params['to'])];
  return params['from'] !== undefined && params['to'] !== undefined && Number.isFinite(from) && Number.isFinite(to) && to > from ? { from, to } : null;
}

/** The buckets of a stretch, where nobody can be asked for finer ones. */
export function cutTimeline(timeline: Timeline, stretch: Stretch): Timeline {
  const each = (timeline.to_unix_ms - timeline.from_unix_ms) / Math.max(1, timeline.buckets);
  const first = Math.max(0, Math.floor((stretch.from - timeline.from_unix_ms) / each));
  const last = Math.min(timeline.buckets, Math.ceil((stretch.to - timeline.from_unix_ms) / each));
  const cut = <Line extends { values: (number | null)[] }>(line: Line): Line => ({ ...line, values: line.values.slice(first, last) });
  return { ...timeline, from_unix_ms: timeline.from_unix_ms + first * each, to_unix_ms: timeline.from_unix_ms + last * each, buckets: Math.max(0, last - first), system: timeline.system.map(cut), phases: timeline.phases.map(cut) };
}

export class TimeLinePart {
  readonly element: HTMLElement;
  private readonly controls = h('div', { class: 'toolbar' });
  private readonly note = h('p', { class: 'muted', role: 'status' });
  private readonly empty = h('div', {});
  private readonly heatPart: HTMLElement;
  private readonly line: TimeLine;
  private readonly heat: HeatMap;
  private state: TimeLineState | null = null;
  private params: Params = {};
  private timeline: Timeline | null = null; // of the stretch that is shown
  private round = 0;

  constructor(
    private readonly context: ViewContext,
    pick: (unixMs: number) => void,
  ) {
    const announce = (text: string) => context.announce(text);
    this.line = new TimeLine({ zoom: (stretch) => this.change(stretch), pick, announce });
    this.heat = new HeatMap({ pick, announce });
    this.heatPart = part('heat', 'Processors and GPUs', this.heat.element);
    this.element = h('div', {}, part('timeline', 'Time line', this.controls, this.note, this.empty, this.line.element), this.heatPart);
  }

  show(state: TimeLineState): void {
    this.state = state;
    if (!this.timeline || stretchOf(this.params) === null) this.timeline = state.answer.timeline;
    this.draw();
  }

  moveCursor(cursorMs: number | undefined): void {
    if (this.state) this.state.cursorMs = cursorMs;
    this.line.moveCursor(cursorMs);
    this.heat.moveCursor(cursorMs);
  }

  /** The link's words: "from" and "to", "worker", "lanes". */
  async zoom(params: Params): Promise<void> {
    const same = params['from'] === this.params['from'] && params['to'] === this.params['to'];
    const looksSame = same && params['worker'] === this.params['worker'] && params['lanes'] === this.params['lanes'];
    this.params = params;
    if (!this.state || (looksSame && stretchOf(params) === null)) return;
    const stretch = stretchOf(params);
    if (stretch === null) {
      ++this.round;
      if (!same) this.timeline = this.state.answer.timeline;
      this.note.textContent = '';
    } else if (!same || this.timeline === this.state.answer.timeline) await this.load(stretch);
    this.draw();
  }

  /** The same stretch again, or all of it, up to now. */
  async grow(signal: AbortSignal): Promise<void> {
    if (!this.state || stretchOf(this.params) !== null) return;
    const timeline = await this.context.source.json<Timeline>(`/runs/${this.context.run.id}/profile/timeline`, { buckets: this.state.answer.timeline.buckets }, signal);
    if (stretchOf(this.params) !== null) return;
    this.timeline = timeline;
    this.draw();
  }

  key(event: KeyboardEvent): boolean {
    if (!this.timeline || !this.state) return false;
    const { from_unix_ms: from, to_unix_ms: to } = this.timeline;
    const middle = this.state.cursorMs !== undefined && this.state.cursorMs > from && this.state.cursorMs < to ? this.state.cursorMs : (from + to) / 2;
    const moved: Record<string, () => Stretch | null> = {
      '+': () => zoomed({ from, to }, 2, middle), '=': () => zoomed({ from, to }, 2, middle), '-': () => zoomed({ from, to }, 0.5, middle),
      ',': () => ({ from: from - (to - from) / 4, to: to - (to - from) / 4 }), '.': () => ({ from: from + (to - from) / 4, to: to + (to - from) / 4 }), '0': () => null,
    };
    const act = moved[event.key];
    if (!act) return false;
    this.change(act());
    return true;
  }

  drawing(): Drawing | null {
    if (!this.state) return null;
    return this.line.drawing(1100, { ...this.state.theme, dark: false, ground: '#ffffff', text: '#16202a', muted: '#52606d', line: '#c8d0d8' });
  }

  destroy(): void {
    this.heat.destroy();
  }

  private get whole(): Stretch {
    const { from_unix_ms, to_unix_ms } = this.state!.answer.timeline;
    return { from: from_unix_ms, to: to_unix_ms };
  }

  private change(stretch: Stretch | null): void {
    const held = stretch === null ? null : within(stretch, this.whole);
    const isAll = held === null || held.to - held.from >= 0.999 * (this.whole.to - this.whole.from);
    this.context.change(isAll ? { from: undefined, to: undefined } : { from: String(Math.round(held.from)), to: String(Math.round(held.to)) });
  }

  private async load({ from, to }: Stretch): Promise<void> {
    const round = ++this.round;
    const { answer, width } = this.state!;
    try {
      const buckets = Math.min(1000, Math.max(100, Math.round(width / 1.5)));
      const timeline = await this.context.source.json<Timeline>(`/runs/${this.context.run.id}/profile/timeline`, { from_unix_ms: Math.round(from), to_unix_ms: Math.round(to), buckets });
      if (round !== this.round) return;
      this.timeline = timeline;
      this.note.textContent = '';
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      if (round !== this.round) return;
      this.timeline = cutTimeline(answer.timeline, { from, to });
      this.note.textContent = 'Nobody can be asked for more detail here: what is shown is cut out of the whole.';
    }
  }

  private marks(): TimeMark[] {
    const { firings, stepTimes } = this.state!;
    return firings.flatMap(({ step, rule, message }) => {
      const unixMs = stepTimes.timeOf(step);
      return unixMs === undefined ? [] : [{ unixMs, step, text: `${rule} fired at step ${step}: ${message}` }];
    });
  }

  private lanes(): Lane[] {
    const all = lanesOf(this.timeline!.system);
    return this.params['lanes'] === 'all' ? all : all.filter(({ id }) => USUAL_LANES.has(id));
  }

  private draw(): void {
    if (!this.state || !this.timeline) return;
    const { theme, width, cursorMs } = this.state;
    const lanes = this.lanes();
    const nothing = this.timeline.system.length === 0 && this.timeline.phases.length === 0;
    this.drawControls();
    replace(this.empty, nothing && h('p', { class: 'muted' }, 'Nothing was sampled and no step was timed in this stretch.'), nothing && h('pre', {}, `trainwarden sample ${this.context.run.name}`));
    this.line.element.hidden = nothing;
    this.line.show({ timeline: this.timeline, lanes, worker: this.params['worker'], whole: this.whole, cursorMs, marks: this.marks(), theme }, width);
    this.heat.show(this.timeline, cursorMs);
    this.heatPart.hidden = this.heat.isEmpty;
  }

  private drawControls(): void {
    const { answer } = this.state!;
    const timeline = this.timeline!;
    const workers = [...new Set(timeline.phases.map(({ worker }) => worker))];
    const zoomedIn = stretchOf(this.params) !== null;
    const all = lanesOf(timeline.system);
    const hidden = all.filter(({ id }) => !USUAL_LANES.has(id)).length;
    const chosen = this.params['worker'] ?? '';
    const select = h('select', { onchange: () => this.context.change({ worker: select.value || undefined }) },
      h('option', { value: '', selected: chosen === '' }, 'all, on average'), ...workers.map((worker) => h('option', { value: worker, selected: worker === chosen }, worker)));
    const range = `${clock(timeline.from_unix_ms, 0).slice(0, 8)} to ${clock(timeline.to_unix_ms, 0).slice(0, 8)}`;
    const lines = timeline.left_out_lines ?? 0;
    replace(this.controls,
      workers.length > 1 && h('label', {}, 'Phases of ', select),
      h('button', { onclick: () => this.zoomBy(2), title: 'Zoom in (+)' }, 'Zoom in'), h('button', { onclick: () => this.zoomBy(0.5), disabled: !zoomedIn, title: 'Zoom out (−)' }, 'Zoom out'),
      h('button', { onclick: () => this.change(null), disabled: !zoomedIn, title: 'The whole run (0)' }, 'Whole run'),
      hidden > 0 && h('button', { 'aria-pressed': this.params['lanes'] === 'all' ? 'true' : 'false', onclick: () => this.context.change({ lanes: this.params['lanes'] === 'all' ? undefined : 'all' }) }, `${hidden} more ${hidden === 1 ? 'line' : 'lines'}`),
      h('span', { class: 'muted' }, `${zoomedIn ? range : answer.run.state === 'running' ? `${range}, going on` : range}${lines > 0 ? `; ${lines} lines left out` : ''}`));
  }

  private zoomBy(factor: number): void {
    const { from_unix_ms: from, to_unix_ms: to } = this.timeline!;
    this.change(zoomed({ from, to }, factor, (from + to) / 2));
  }
}
