// HomeView: a run's status and history, what was captured, and its cost.
import { h, replace, s } from '../../draw/dom';
import { drawn } from '../../draw/drawn';
import { csvOf, fileName } from '../../draw/files';
import { numberOf, short } from '../../draw/numbers';
import { idOf } from '../../data/ids';
import { SourceError } from '../../data/source';
import { seriesOf, type Series } from '../series';
import type { Snapshot, SnapshotKind, View, ViewContext, ViewState } from '../view';
import type { DiagnosisAnswer, RunAnswer } from './api';
import { card, capturedCard, checkpointsCard, costCard, historyCard, missingCard, originCard, parametersCard, progressCard, rulesCard } from './cards';
import { coursePath } from './course';
import { diagnosisCard } from './diagnosis_card';
import { systemCard, type SystemTimeline } from './system_card';

const SYSTEM_MS = 5000;
const DIAGNOSIS_MS = 3000;
const NEWS_MS = 500; // of a run that takes many steps a second

export class HomeView implements View {
  private run: RunAnswer | undefined;
  private loss: Series | undefined;
  private diagnosis: DiagnosisAnswer | undefined;
  private diagnosisMs = -Infinity; // when it was asked for
  private system: SystemTimeline | undefined;
  private systemMs = -Infinity; // when it was asked for
  private asking = false;
  private again = false;
  private readonly gone = new AbortController();

  constructor(
    private readonly element: HTMLElement,
    private readonly context: ViewContext,
    private state: ViewState,
  ) {
    element.classList.add('home-view');
    void this.ask();
  }

  update(state: ViewState): void {
    const moved = state.step !== this.state.step || state.params !== this.state.params;
    this.state = state;
    if (!moved) void this.ask(); // nothing here follows the cursor
  }

  async snapshot(kind: SnapshotKind): Promise<Snapshot | undefined> {
    if (kind !== 'csv' || !this.run) return undefined;
    const { run } = this;
    const rows: (string | number)[][] = [['what', 'value'], ['name', run.name], ['state', run.state], ['steps', run.progress.steps],
      ['loss', run.loss ? String(run.loss.value) : ''], ...Object.entries(run.labels).map(([name, value]) => [`label ${name}`, value])];
    return { fileName: `${fileName(run.name, 'home')}.csv`, data: csvOf(rows) };
  }

  destroy(): void {
    this.gone.abort();
    this.element.classList.remove('home-view');
  }

  private async ask(): Promise<void> {
    this.again = this.asking;
    if (this.asking) return;
    this.asking = true;
    const { source, run } = this.context;
    try {
      this.run = await source.json<RunAnswer>(`/runs/${run.id}`, {}, this.gone.signal);
      if (this.run.loss) await this.askLoss(this.run.loss.tensor);
      await this.askDiagnosis();
      await this.askSystem();
      this.draw();
    } catch (error) {
      if (!this.gone.signal.aborted) replace(this.element, h('div', { class: 'fault', role: 'alert' }, error instanceof Error ? error.message : String(error)));
    }
    setTimeout(() => {
      this.asking = false;
      if (this.again && !this.gone.signal.aborted) void this.ask();
    }, NEWS_MS);
  }

  private async askLoss(newest: string): Promise<void> {
    const { source, run } = this.context;
    const tensors = idOf(newest);
    this.loss = seriesOf(await source.arrays(`/runs/${run.id}/series`, { tensors, buckets: 300 }, this.gone.signal))[0];
  }

  /** A file that was made before there were diagnoses has none. */
  private async askDiagnosis(): Promise<void> {
    const isLive = this.run?.state === 'running';
    if (isLive && performance.now() - this.diagnosisMs < DIAGNOSIS_MS) return;
    this.diagnosisMs = performance.now();
    try {
      this.diagnosis = await this.context.source.json<DiagnosisAnswer>(`/runs/${this.context.run.id}/diagnosis`, {}, this.gone.signal);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
    }
  }

  /** Of the machine; a run without samples, or a file that holds none, has no such card. */
  private async askSystem(): Promise<void> {
    if (performance.now() - this.systemMs < SYSTEM_MS) return;
    this.systemMs = performance.now();
    try {
      this.system = await this.context.source.json<SystemTimeline>(`/runs/${this.context.run.id}/profile/timeline`, { buckets: 120 }, this.gone.signal);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
    }
  }

  private draw(): void {
    const { run, context } = this;
    if (!run) return;
    const focus = document.activeElement instanceof HTMLElement && this.element.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
    replace(this.element, h('div', { class: 'cards' },
      this.diagnosis && diagnosisCard(this.diagnosis), progressCard(run), this.lossCard(run), this.system && systemCard(this.system, context.link('system', {})), rulesCard(run, context.link('rules', {})), parametersCard(run),
      capturedCard(run, context.link('tensors', {})), costCard(run), missingCard(run), checkpointsCard(run), historyCard(run), originCard(run)));
    if (focus !== null) this.element.querySelector<HTMLElement>(`a[href="${CSS.escape(focus)}"]`)?.focus();
    drawn(this.element, run.progress.last_step < 0 ? null : run.progress.last_step);
  }

  private lossCard(run: RunAnswer): HTMLElement | undefined {
    if (!run.loss) return undefined;
    const link = this.context.link('scalars', {});
    const picture = this.loss && s('svg', { class: 'course', viewBox: '0 0 300 100', preserveAspectRatio: 'none', role: 'img', 'aria-label': `Course of ${run.loss.tensor}` },
      s('path', { d: coursePath(this.loss.step, this.loss.value, 300, 100) }));
    return card('Loss',
      h('p', { class: 'big' }, short(numberOf(run.loss.value))),
      h('p', { class: 'muted' }, `${run.loss.tensor} at step ${run.loss.step}`),
      picture, link && h('p', {}, h('a', { href: link }, 'All scalars')));
  }
}
