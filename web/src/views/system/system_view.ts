// SystemView: asks for the profile and draws its parts below each other, the verdict first.
import type { Firing } from '../../data/firings';
import { idOf } from '../../data/ids';
import { parseOther } from '../../data/link';
import { SourceError } from '../../data/source';
import { h, replace } from '../../draw/dom';
import { drawn } from '../../draw/drawn';
import { fileName } from '../../draw/files';
import { keepingFocus } from '../../draw/focus';
import { pngOfSvg } from '../../draw/svg_png';
import { onThemeChange, themeOf } from '../../draw/theme';
import type { KeyHelp, Snapshot, SnapshotKind, View, ViewContext, ViewState } from '../view';
import type { Comparison, ProfileAnswer, RecordedStep } from './api';
import { profileAsCsv } from './files';
import { costPart, comparisonPart, usagePart } from './more_parts';
import { memoryPart } from './memory_part';
import { operatorsPart } from './operators_table';
import { phasesPart } from './phase_bars';
import { findingsPart, rulesPart } from './rule_list';
import { fileOf } from './shapes';
import { stepsPart } from './step_histogram';
import { StepTimes } from '../../data/step_times';
import { TimeLinePart } from './time_line_part';
import { verdictCard } from './verdict_card';
import { WindowPart } from './window_part';
import { counted } from './words';

const PACE_MS = 2000; // of a run that goes on
const ALL_PACE_MS = 10_000; // the server judges no oftener

export class SystemView implements View {
  readonly keys: readonly KeyHelp[] = [
    { keys: '+  −', does: 'zoom the time line in, out' },
    { keys: ',  .', does: 'move the stretch of time back, forward' },
    { keys: '0', does: 'the whole run' },
  ];

  private readonly fault = h('div', { class: 'fault', role: 'alert', hidden: true });
  private readonly first = h('div', { class: 'time-first' });
  private readonly phases = h('div', {});
  private readonly stepsPart = h('div', {});
  private readonly rest = h('div', { class: 'time-rest' });
  private readonly timeLine: TimeLinePart;
  private readonly window: WindowPart;
  private readonly observer: ResizeObserver;
  private readonly forgetTheme: () => void;
  private readonly gone = new AbortController();
  private answer: ProfileAnswer | null = null;
  private stepTimes = StepTimes.none;
  private firings: Firing[] = [];
  private windows: RecordedStep[] | null = null;
  private comparison: Comparison | null = null;
  private comparisonFault: string | null = null;
  private width = 0;
  private asking = false;
  private again = false;
  private askedMs = -Infinity;
  private askedAllMs = -Infinity;
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(
    private readonly element: HTMLElement,
    private readonly context: ViewContext,
    private state: ViewState,
  ) {
    element.classList.add('time-view');
    this.timeLine = new TimeLinePart(context, (unixMs) => this.seekTo(unixMs));
    this.window = new WindowPart(context);
    replace(element, this.fault, this.first, this.phases, this.timeLine.element, this.stepsPart, this.window.element, this.rest);
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(element);
    this.forgetTheme = onThemeChange(() => this.draw());
    void this.ask();
  }

  update(state: ViewState): void {
    const before = this.state;
    this.state = state;
    if (before.step === state.step && before.params === state.params) return this.askSoon(); // news
    if (before.params['b'] !== state.params['b']) void this.askComparison().then(() => this.draw());
    if (before.step !== state.step) this.timeLine.moveCursor(this.cursorMs());
    this.showWindow();
    if (before.params !== state.params) {
      this.drawRest();
      void this.timeLine.zoom(state.params);
    }
  }

  key(event: KeyboardEvent): boolean {
    return this.timeLine.key(event);
  }

  async snapshot(kind: SnapshotKind): Promise<Snapshot | undefined> {
    if (!this.answer || kind === 'npy') return undefined;
    const name = fileName(this.context.run.name, 'time');
    if (kind === 'csv') return { fileName: `${name}.csv`, data: profileAsCsv(this.answer) };
    const drawing = this.timeLine.drawing();
    if (!drawing) return undefined;
    const svg = fileOf(drawing);
    if (kind === 'svg') return { fileName: `${name}.svg`, data: svg.toBlob() };
    return { fileName: `${name}.png`, data: await pngOfSvg(svg.toBlob(), svg.width, svg.height) };
  }

  destroy(): void {
    this.gone.abort();
    if (this.timer !== null) clearTimeout(this.timer);
    this.observer.disconnect();
    this.forgetTheme();
    this.timeLine.destroy();
    this.window.destroy();
    this.element.classList.remove('time-view');
  }

  // --- asking

  private askSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      void this.ask();
    }, Math.max(0, PACE_MS - (performance.now() - this.askedMs)));
  }

  /** One round at a time; news that come meanwhile make one more. Between whole answers the time line alone grows. */
  private async ask(): Promise<void> {
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    this.askedMs = performance.now();
    try {
      if (!this.answer || performance.now() - this.askedAllMs >= ALL_PACE_MS) await this.askAll();
      else await this.timeLine.grow(this.gone.signal);
      this.fault.hidden = true;
    } catch (error) {
      if (!(error instanceof SourceError) && !this.gone.signal.aborted) throw error;
      if (!this.answer && error instanceof SourceError) this.tell(error);
    } finally {
      this.asking = false;
    }
    if (this.again && !this.gone.signal.aborted) {
      this.again = false;
      this.askSoon();
    }
  }

  private async askAll(): Promise<void> {
    const { source, run } = this.context;
    const { signal } = this.gone;
    this.askedAllMs = performance.now();
    this.answer = await source.json<ProfileAnswer>(`/runs/${run.id}/profile`, {}, signal);
    const also = await Promise.allSettled([source.arrays(`/runs/${run.id}/profile/steps`, {}, signal), this.context.firings(), source.json<RecordedStep[] | { windows: RecordedStep[] }>(`/runs/${run.id}/profile/windows`, {}, signal), this.askComparison()]);
    if (signal.aborted) return;
    if (also[0].status === 'fulfilled') this.stepTimes = StepTimes.of(also[0].value); // without it no step has a place in time
    if (also[1].status === 'fulfilled') this.firings = also[1].value.filter(({ severity }) => severity !== 'info');
    if (also[2].status === 'fulfilled') this.windows = Array.isArray(also[2].value) ? also[2].value : also[2].value.windows;
    this.draw();
    void this.timeLine.zoom(this.state.params);
  }

  private async askComparison(): Promise<void> {
    const other = parseOther(this.state.params['b'])?.run ?? null;
    this.comparison = this.comparisonFault = null;
    if (other === null) return;
    try {
      const answer = await this.context.source.json<ProfileAnswer>(`/runs/${this.context.run.id}/profile`, { against: idOf(other) }, this.gone.signal);
      this.comparison = answer.comparison;
    } catch (error) {
      this.comparisonFault = error instanceof Error ? error.message : String(error);
    }
  }

  private tell(error: SourceError): void {
    this.fault.hidden = false;
    replace(this.fault, h('p', {}, error.message), error.code === 'not found' ? h('p', {}, 'Where the time goes is computed by ', h('code', {}, 'trainwarden report'), '.') : undefined);
    drawn(this.element, null);
  }

  // --- showing

  private resized(): void {
    const width = this.element.clientWidth;
    if (Math.abs(width - this.width) < 1) return;
    this.width = width;
    this.draw();
  }

  private cursorMs(): number | undefined {
    return this.state.step === null ? undefined : this.stepTimes.timeOf(this.state.step);
  }

  private seekTo(unixMs: number): void {
    const step = this.stepTimes.stepAt(unixMs);
    if (step === undefined) return this.context.announce('No train step is known at this time');
    this.context.seek(step);
    this.context.announce(`Step ${step}`);
  }

  /** Within a panel. */
  private inner(): number {
    return Math.max(280, (this.width || 900) - 30);
  }

  private draw(): void {
    const { answer, context } = this;
    if (!answer) return;
    const theme = themeOf(this.element);
    keepingFocus(this.first, () => replace(this.first, verdictCard(answer, context), this.facts(answer), findingsPart(answer, context)));
    replace(this.phases, phasesPart(answer, this.inner(), theme));
    this.timeLine.show({ answer, stepTimes: this.stepTimes, firings: this.firings, cursorMs: this.cursorMs(), width: this.inner(), theme });
    keepingFocus(this.stepsPart, () => replace(this.stepsPart, stepsPart(answer, this.inner(), theme, context)));
    this.showWindow();
    this.drawRest();
    drawn(this.element, this.stepTimes.steps.at(-1) ?? null);
  }

  private facts(answer: ProfileAnswer): HTMLElement {
    const { run, steps, workers } = answer;
    const hosts = new Set(workers.map(({ host }) => host).filter(Boolean));
    const where = hosts.size > 1 ? `on ${hosts.size} machines` : run.host === '' ? '' : `on ${run.host}`;
    const text = [counted(steps.count, 'train step'), workers.length > 1 ? counted(workers.length, 'worker') : '', where].filter(Boolean).join(', ');
    return h('p', { class: 'muted time-facts' }, text);
  }

  private showWindow(): void {
    if (this.answer) this.window.show(this.windows, this.state.params, this.state.step, this.context.run.name);
  }

  private drawRest(): void {
    const { answer, context, state } = this;
    if (!answer) return;
    const theme = themeOf(this.element);
    const other = parseOther(state.params['b'])?.run ?? null;
    keepingFocus(this.rest, () => replace(this.rest,
      operatorsPart(answer, state.params, context), memoryPart(answer, this.inner(), theme, context), comparisonPart(this.comparison ?? answer.comparison, other, this.comparisonFault),
      usagePart(answer), rulesPart(answer, context), costPart(answer.cost)));
  }
}

