// HomeView: a run's status and history, what was captured, and its cost.
import { h, replace } from '../../draw/dom';
import { drawn } from '../../draw/drawn';
import { csvOf, fileName } from '../../draw/files';
import type { RuleAnswer, RulesAnswer } from '../../data/firings';
import { SourceError } from '../../data/source';
import type { Series } from '../series';
import type { Snapshot, SnapshotKind, View, ViewContext, ViewState } from '../view';
import type { DiagnosisAnswer, RunAnswer } from './api';
import { capturedCard, checkpointsCard, costCard, historyCard, missingCard, originCard, parametersCard, progressCard, rulesCard } from './cards';
import { alarming, causeCard, isWell } from './cause_card';
import { diagnosisCard, isDiagnosed } from './diagnosis_card';
import { Losses, lossesCard, lostLoss } from './losses_card';
import { systemCard, type SystemTimeline } from './system_card';

const SYSTEM_MS = 5000;
const DIAGNOSIS_MS = 3000;
const NEWS_MS = 500; // of a run that takes many steps a second

export class HomeView implements View {
  private run: RunAnswer | undefined;
  private losses: Series[] = [];
  private rules: RuleAnswer[] = [];
  private diagnosis: DiagnosisAnswer | undefined;
  private diagnosisMs = -Infinity; // when it was asked for
  private system: SystemTimeline | undefined;
  private systemMs = -Infinity; // when it was asked for
  private asking = false;
  private again = false;
  private readonly gone = new AbortController();
  private readonly asked: Losses;

  constructor(
    private readonly element: HTMLElement,
    private readonly context: ViewContext,
    private state: ViewState,
  ) {
    this.asked = new Losses(context.source, context.run.id, this.gone.signal);
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
      this.losses = await this.asked.ask();
      await this.askDiagnosis();
      await this.askSystem();
      this.draw();
    } catch (error) {
      if (!this.gone.signal.aborted && !this.staysWithout(error)) replace(this.element, h('div', { class: 'fault', role: 'alert' }, error instanceof Error ? error.message : String(error)));
    }
    setTimeout(() => {
      this.asking = false;
      if (this.again && !this.gone.signal.aborted) void this.ask();
    }, NEWS_MS);
  }

  /** The page says itself that its server is gone, and that what is shown stays. */
  private staysWithout(error: unknown): boolean {
    return error instanceof SourceError && error.code === 'unreachable' && this.element.querySelector('.cards') !== null;
  }

  /** With what rules found. A file that was made before there were diagnoses has none. */
  private async askDiagnosis(): Promise<void> {
    const isLive = this.run?.state === 'running';
    if (isLive && performance.now() - this.diagnosisMs < DIAGNOSIS_MS) return;
    this.diagnosisMs = performance.now();
    try {
      this.rules = (await this.context.source.json<RulesAnswer>(`/runs/${this.context.run.id}/rules`, {}, this.gone.signal)).rules;
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
      ...this.verdictCards(run), lossesCard(this.losses, context.link('scalars', {})), progressCard(run), this.system && systemCard(this.system, context.link('system', {})), costCard(run),
      rulesCard(run, alarming(this.rules), context.link('rules', {})), missingCard(run), parametersCard(run), capturedCard(run, context.link('tensors', {})), checkpointsCard(run), historyCard(run), originCard(run)));
    if (focus !== null) this.element.querySelector<HTMLElement>(`a[href="${CSS.escape(focus)}"]`)?.focus();
    drawn(this.element, run.progress.last_step < 0 ? null : run.progress.last_step);
  }

  /** Is it well, and what happened: a diagnosis says it better than what rules found, and that better than nothing. */
  private verdictCards(run: RunAnswer): (HTMLElement | undefined)[] {
    const known = { rules: this.rules, lost: lostLoss(this.losses) };
    const fine = isWell(known);
    const diagnosis = this.diagnosis && diagnosisCard(this.diagnosis, fine);
    if (diagnosis && (fine || isDiagnosed(this.diagnosis!))) return [diagnosis];
    return [causeCard(run, known, this.context.link('rules', {})), diagnosis];
  }
}
