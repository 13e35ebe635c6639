// The confusion view: which class is taken for which, at the cursor's step or over the steps before it.
import './confusion.css';

import { parseOther } from '../../data/link';
import { SourceError } from '../../data/source';
import { h, replace, type Child } from '../../draw/dom';
import { drawerOf } from '../../draw/drawer';
import { drawn } from '../../draw/drawn';
import { fileName } from '../../draw/files';
import { keepingFocus } from '../../draw/focus';
import type { MountView, Snapshot, SnapshotKind, View, ViewContext, ViewState } from '../view';
import { ConfusionData, type TensorsAnswer } from './confusion_data';
import { check, choice, MODES, NORMALISATIONS, ORDERS, SPANS, tensorOptions } from './controls';
import { matrixAsCsv, matrixAsNpy, matrixAsSvg } from './files';
import type { CellPlace } from './layout';
import { ordered, summaryOf, type Matrix, type Normalisation, type Order } from './matrix';
import { MatrixPicture } from './matrix_picture';
import { SamplesPart } from './samples_part';
import { alignedTo, type Shown } from './shading';
import { classTable, confusionList, matrixTable } from './tables';

const MOST_STEPS = 100_000; // that the time bar gets a list of

class ConfusionView implements View {
  private readonly controls = h('div', { class: 'toolbar' });
  private readonly note = h('div', {});
  private readonly body = h('div', { class: 'confusion-layout', hidden: true });
  private readonly picture: MatrixPicture;
  private readonly side = h('div', { class: 'confusion-side', tabindex: '0', role: 'group', 'aria-label': 'Classes' });
  private readonly below = h('div', {});
  private readonly samples: SamplesPart;
  private readonly data: ConfusionData;
  private content: Shown | null = null;
  private asking = false;
  private askAgain = false;
  private gone = false;

  constructor(
    private readonly element: HTMLElement,
    private readonly context: ViewContext,
    private state: ViewState,
  ) {
    this.data = new ConfusionData(context.source, context.run);
    this.samples = new SamplesPart(context);
    this.picture = new MatrixPicture(({ row, column }) => context.change({ cell: `${row},${column}` }));
    replace(element, drawerOf('Tensors, steps, order, colours', this.controls), this.note, this.body, this.below);
    replace(this.body, h('div', {}, this.picture.element, this.samples.element), this.side);
    void this.load();
  }

  update(state: ViewState): void {
    const sameLink = state.step === this.state.step && JSON.stringify(state.params) === JSON.stringify(this.state.params);
    this.state = state;
    if (sameLink) this.data.forgetSteps(); // there are news
    void this.load();
  }

  steps(): readonly number[] {
    return this.data.steps.count > MOST_STEPS ? [] : [...this.data.steps.list()];
  }

  async snapshot(kind: SnapshotKind): Promise<Snapshot | undefined> {
    if (!this.content) return undefined;
    const content = this.content;
    const made = {
      csv: () => matrixAsCsv(content),
      npy: () => matrixAsNpy(content),
      svg: () => matrixAsSvg(content).toBlob(),
      png: () => this.picture.png(),
    };
    const data = await made[kind]();
    return data && { fileName: `${fileName(this.context.run.name, 'confusion', content.matrix.lastStep)}.${kind}`, data };
  }

  destroy(): void {
    this.gone = true;
    this.picture.destroy();
    this.samples.destroy();
  }

  /** One question at a time; what changes meanwhile makes one more. */
  private async load(): Promise<void> {
    if (this.asking) {
      this.askAgain = true;
      return;
    }
    this.asking = true;
    do {
      this.askAgain = false;
      try {
        await this.loadOnce();
      } catch (error) {
        if (!(error instanceof SourceError)) throw error;
        if (!this.gone) this.say(error.message, true);
      }
    } while (this.askAgain && !this.gone);
    this.asking = false;
  }

  private async loadOnce(): Promise<void> {
    const tensors = await this.data.choose(this.state);
    if (this.gone) return;
    this.drawControls(tensors);
    const found = await this.data.find(tensors, this.state);
    if (this.gone) return;
    if (typeof found === 'string') this.say(found);
    else {
      this.draw(found.matrix, found.other, found.why);
      this.showSamples(tensors, found.matrix);
    }
  }

  /** In place of a matrix. */
  private say(message: string, isFault = false): void {
    this.content = null;
    this.body.hidden = true;
    replace(this.below);
    replace(this.note, h('p', { class: isFault ? 'bad' : 'empty', role: isFault ? 'alert' : 'status' }, message));
    drawn(this.element, null);
  }

  private cell(): CellPlace | null {
    const found = /^(\d{1,4}),(\d{1,4})$/.exec(this.state.params['cell'] ?? '');
    return found && { row: Number(found[1]), column: Number(found[2]) };
  }

  private draw(matrix: Matrix, b: Matrix | null, why: string): void {
    const { norm = 'rows', sort = 'number', log, diagonal } = this.state.params;
    const order = ordered(matrix, sort in ORDERS ? (sort as Order) : 'number');
    const normalisation = norm in NORMALISATIONS ? (norm as Normalisation) : 'rows';
    const { aligned: other = null, missing = 0 } = b ? alignedTo(matrix, b) : {};
    this.content = { matrix, order, other, colouring: { normalisation, logarithmic: log === '1', hideDiagonal: diagonal === '0' } };
    this.body.hidden = false;
    this.body.classList.toggle('confusion-compared', other !== null);
    replace(this.note, h('p', { 'data-summary': '' }, summaryOf(matrix)), why !== '' && h('p', { class: 'muted', 'data-why': '' }, why), ...this.comparison(b, missing), ...warnings(matrix));
    this.picture.show(this.content, this.cell());
    const show = (row: number, column: number) => this.context.change({ cell: `${row},${column}` });
    keepingFocus(this.side, () => replace(this.side, h('h2', {}, 'Confused most often'), confusionList(matrix, show), classTable(matrix, order, other)));
    this.drawTable(matrix, order);
    drawn(this.element, matrix.lastStep);
  }

  private showSamples({ labels, predictions }: TensorsAnswer, matrix: Matrix): void {
    const cell = this.cell();
    const [actual, predicted] = cell ? [matrix.numbers[cell.row], matrix.numbers[cell.column]] : [];
    const count = cell && matrix.counts[cell.row * matrix.rows.length + cell.column];
    const known = labels && predictions && count && Number.isFinite(actual) && Number.isFinite(predicted);
    const question = known ? { labels: labels.id, predictions: predictions.id, mode: this.state.params['mode'], from: matrix.firstStep, to: matrix.lastStep, actual: actual!, predicted: predicted! } : null;
    this.samples.show(question, labels?.name ?? '');
  }

  private comparison(b: Matrix | null, missing: number): Child[] {
    if (!b) return [];
    const run = parseOther(this.state.params['b'])?.run;
    const words = `The cells show the difference from B${run == null ? '' : `, ${run}`}: orange is more here, blue is less. B: ${summaryOf(b)}`;
    return [h('p', { 'data-other': '' }, words), missing > 0 && h('p', { class: 'warn' }, `▲ ${missing} classes of B are none here and are left out.`)];
  }

  /** Made when it is opened: it may have thousands of cells. */
  private drawTable(matrix: Matrix, order: number[]): void {
    const open = this.below.querySelector('details')?.open ?? false;
    const details = h('details', { open }, h('summary', {}, 'As a table'), open && matrixTable(matrix, order));
    details.addEventListener('toggle', () => {
      if (details.open && details.children.length === 1) details.append(matrixTable(matrix, order));
    });
    keepingFocus(this.below, () => replace(this.below, details));
  }

  private drawControls({ labels, predictions, candidates }: TensorsAnswer): void {
    const { mode = '', span = '1', norm = 'rows', sort = 'number', log, diagonal } = this.state.params;
    const change = (params: Record<string, string | undefined>) => this.context.change(params);
    keepingFocus(this.controls, () =>
      replace(
        this.controls,
        choice('labels', 'Labels', tensorOptions(candidates.labels, labels), labels?.name ?? '', candidates.labels[0]?.name ?? '', change),
        choice('predictions', 'Predictions', tensorOptions(candidates.predictions, predictions), predictions?.name ?? '', candidates.predictions[0]?.name ?? '', change),
        choice('mode', 'Mode', MODES, mode, '', change),
        choice('span', 'Over', SPANS, span, '1', change),
        choice('norm', 'Show', NORMALISATIONS, norm, 'rows', change),
        choice('sort', 'Sorted by', ORDERS, sort, 'number', change),
        check('log', 'logarithmic colours', '1', log === '1', change),
        check('diagonal', 'hide the diagonal', '0', diagonal === '0', change),
      ),
    );
  }
}

function warnings(matrix: Matrix): Child[] {
  const notes: string[] = [];
  const left = matrix.steps - matrix.countedSteps - matrix.unfitSteps;
  if (left > 0) notes.push(`Only the newest ${matrix.countedSteps} of ${matrix.steps} steps were counted: more would take too long.`);
  if (matrix.unfitSteps > 0) notes.push(`${matrix.unfitSteps} steps could not be counted. ${matrix.firstProblem}`);
  if (matrix.folded > 0) notes.push(`${matrix.folded} rare classes share the row “other”.`);
  return notes.map((note) => h('p', { class: 'warn' }, `▲ ${note}`));
}

export const mount: MountView = (element, context, state) => new ConfusionView(element, context, state);
