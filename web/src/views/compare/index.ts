// The compare view: this run beside another one: what differs in their configurations, then the first step and tensor at
// which they part, then their losses.
import './compare.css';

import { idOf } from '../../data/ids';
import { formatLink, formatOther, parseOther } from '../../data/link';
import { SourceError } from '../../data/source';
import { h, replace } from '../../draw/dom';
import { drawerOf, openDrawerOf } from '../../draw/drawer';
import { drawn } from '../../draw/drawn';
import { csvOf, fileName } from '../../draw/files';
import { keepingFocus } from '../../draw/focus';
import { numberOf } from '../../draw/numbers';
import type { MountView, Snapshot, SnapshotKind, View, ViewContext, ViewState } from '../view';
import { Comparing, type CompareAnswer, type PartingAnswer } from './answer';
import { curvesChart, loadCurves, type Curves } from './curves';
import { fieldTable, metricFields, onlyPart, partingTable } from './tables';
import { differencesInWords, placeInWords, verdictInWords } from './words';

const TOLERANCES: Record<string, string> = { '0': 'none: bit for bit', '1e-7': '1e-7', '1e-6': '1e-6', '1e-5': '1e-5', '1e-4': '1e-4', '1e-3': '1e-3', '0.01': '1 %', '0.1': '10 %' };

/** Of GET /runs, as far as it is needed here. */
interface ListedRun {
  name: string;
  metrics?: Record<string, number | string>;
}

class CompareView implements View {
  private readonly controls = h('div', { class: 'toolbar' });
  private readonly verdict = h('div', { role: 'status' });
  private readonly details = h('div', {});
  private readonly curvesPart = h('section', { 'aria-label': 'Losses' });
  private readonly fields = h('section', { 'aria-label': 'What differs' });
  private runs: ListedRun[] = [];
  private comparing: Comparing | null = null;
  private asked = '';
  private answer: CompareAnswer | null = null;
  private curves: Curves[] = [];
  private readonly gone = new AbortController();

  constructor(
    private readonly element: HTMLElement,
    private readonly context: ViewContext,
    private state: ViewState,
  ) {
    const controls = drawerOf('Other run, tolerance', this.controls, this.gone.signal);
    replace(element, controls, this.fields, this.verdict, this.details, this.curvesPart);
    void this.loadRuns();
    this.compare();
  }

  update(state: ViewState): void {
    this.state = state;
    this.drawControls();
    this.compare();
    if (this.answer) this.draw(this.answer);
  }

  async snapshot(kind: SnapshotKind): Promise<Snapshot | undefined> {
    if (kind !== 'csv' || !this.answer) return undefined;
    const { a, b, fields, parting } = this.answer;
    const data = csvOf([
      ['what', 'name', a.name, b.name, 'difference'],
      ...fields.map((field) => [field.group, field.name, field.a, field.b, field.differs ? 'differs' : '']),
      ...(parting?.tensors ?? []).map((each) => [`step ${parting!.step}`, each.tensor, numberOf(each.a), numberOf(each.b), numberOf(each.difference)]),
    ]);
    return { fileName: `${fileName(a.name, b.name, 'compared')}.csv`, data };
  }

  destroy(): void {
    this.gone.abort();
    this.comparing?.stop();
  }

  private other(): string | null {
    return parseOther(this.state.params['b'])?.run ?? null;
  }

  private tolerance(): number {
    const tolerance = Number(this.state.params['tolerance'] ?? 0);
    return tolerance >= 0 && tolerance <= 1 ? tolerance : 0;
  }

  private async loadRuns(): Promise<void> {
    try {
      this.runs = (await this.context.source.json<{ runs: ListedRun[] }>('/runs')).runs;
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      this.context.announce(error.message);
    }
    if (this.gone.signal.aborted) return;
    this.drawControls();
    if (this.answer) this.draw(this.answer);
  }

  /** Once for each question; the button compares running runs again. */
  private compare(): void {
    const other = this.other();
    const question = { a: this.context.run.id, b: other === null ? '' : idOf(other), tolerance: this.tolerance() };
    const key = JSON.stringify(question);
    if (key === this.asked) return;
    this.asked = key;
    this.comparing?.stop();
    this.answer = null;
    this.curves = [];
    replace(this.curvesPart);
    replace(this.details);
    replace(this.fields);
    if (other === null) {
      openDrawerOf(this.controls);
      replace(this.verdict, h('p', { class: 'empty' }, 'Choose the run to compare with.'));
      drawn(this.element, null);
      return;
    }
    replace(this.verdict, h('p', { class: 'muted' }, 'Comparing …'));
    const comparing = new Comparing(this.context.source, question, (answer) => this.comparing === comparing && this.draw(answer));
    this.comparing = comparing;
    void loadCurves(this.context.source, question.a, question.b).then((curves) => {
      if (this.comparing !== comparing || this.gone.signal.aborted) return;
      this.curves = curves;
      this.drawCurves();
    });
    comparing.run().catch((error: unknown) => {
      if (!(error instanceof SourceError)) throw error;
      if (this.comparing === comparing && !this.gone.signal.aborted) replace(this.verdict, h('p', { class: 'bad', role: 'alert' }, error.message));
    });
  }

  private draw(answer: CompareAnswer): void {
    if (this.gone.signal.aborted) return;
    this.answer = answer;
    replace(this.verdict, h('p', { class: 'compare-verdict', 'data-verdict': answer.parting?.step ?? '' }, verdictInWords(answer)),
      answer.damaged > 0 && h('p', { class: 'warn' }, `▲ ${answer.damaged} tensors or steps could not be read.`));
    keepingFocus(this.details, () => replace(this.details, this.partingPart(answer)));
    this.drawCurves();
    this.drawFields(answer);
    drawn(this.element, answer.parting?.step ?? (answer.last_step < 0 ? null : answer.last_step));
  }

  private drawFields(answer: CompareAnswer): void {
    const metrics = (name: string) => this.runs.find((run) => run.name === name)?.metrics;
    const fields = [...answer.fields, ...metricFields(metrics(answer.a.name), metrics(answer.b.name))];
    const isAll = this.state.params['same'] === '1';
    keepingFocus(this.fields, () => replace(this.fields, h('h2', {}, differencesInWords(answer.fields)), this.sameBox(isAll), fieldTable(answer, fields, !isAll), onlyPart(answer.a.name, answer.only_a), onlyPart(answer.b.name, answer.only_b)));
  }

  private drawCurves(): void {
    const names = { a: this.context.run.name, b: this.other() ?? '' };
    const partedAt = this.answer?.parting?.step ?? null;
    replace(this.curvesPart, this.curves.length > 0 && h('h2', {}, 'Losses'), ...this.curves.map((curves) => curvesChart(curves, names, partedAt)));
  }

  private partingPart(answer: CompareAnswer): HTMLElement | null {
    const { parting } = answer;
    if (!parting) return null;
    const to = (run: string, view: string, params: Record<string, string>) => formatLink({ run, view, step: parting.step, params });
    const tensor = (run: string) => (each: PartingAnswer) => h('a', { href: to(run, 'tensors', { tensor: each.tensor }) }, each.tensor);
    return h(
      'section',
      { 'aria-label': 'Where they part' },
      h('p', {}, h('button', { onclick: () => this.context.seek(parting.step) }, `Go to ${placeInWords(parting)}`)),
      partingTable(parting, { a: tensor(answer.a.name), b: tensor(answer.b.name) }),
    );
  }

  private sameBox(checked: boolean): HTMLElement {
    const box: HTMLInputElement = h('input', { id: 'compare-same', type: 'checkbox', checked, onchange: () => this.context.change({ same: box.checked ? '1' : undefined }) });
    return h('label', { for: 'compare-same' }, box, 'also what is the same');
  }

  private drawControls(): void {
    const other = this.other();
    const listed = this.runs.map(({ name }) => name).filter((name) => name !== this.context.run.name);
    const names = other !== null && !listed.includes(other) ? [other, ...listed] : listed;
    const runs: HTMLSelectElement = h('select', { id: 'compare-run', onchange: () => this.context.change({ b: runs.value === '' ? undefined : formatOther({ run: runs.value, step: null }) }) },
      h('option', { value: '' }, names.length === 0 ? 'there is no other run' : 'choose one'),
      ...names.map((name) => h('option', { value: name, selected: name === other }, name)));
    const tolerance: HTMLSelectElement = h('select', { id: 'compare-tolerance', onchange: () => this.context.change({ tolerance: tolerance.value === '0' ? undefined : tolerance.value }) },
      ...Object.entries(TOLERANCES).map(([value, text]) => h('option', { value, selected: Number(value) === this.tolerance() }, text)));
    const again = h('button', { onclick: () => { this.asked = ''; this.compare(); } }, 'Compare anew');
    keepingFocus(this.controls, () => replace(this.controls, h('label', { for: 'compare-run' }, 'Other run', runs), h('label', { for: 'compare-tolerance' }, 'Tolerance', tolerance), other !== null && again));
  }
}

export const mount: MountView = (element, context, state) => new CompareView(element, context, state);
