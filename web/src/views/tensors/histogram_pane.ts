// How a tensor's elements are spread over steps: ridges, a heat map, or the bars of one step, with the limits of the small
// floating-point types.
import { type Frame, Picture } from '../../draw/canvas';
import { h, replace } from '../../draw/dom';
import { count, short } from '../../draw/numbers';
import { themeOf } from '../../draw/theme';

import { type HistogramAxis, type Histograms, linearAxis, logAxis } from './histogram_axis';
import { acrossOf, drawHistogram, HEIGHT, LEFT, rowAt } from './histogram_picture';
import { binsTable, limitsTable } from './histogram_tables';
import { type Look, type Pane, type PaneOwner, Question } from './pane';
import { svgOfPng } from './svg_picture';

type Drawing = 'ridge' | 'heat' | 'bars';
const DRAWINGS: [Drawing, string][] = [['ridge', 'Ridges'], ['heat', 'Heat map'], ['bars', 'One step']];
const RIDGES = 60; // at most
const AXES: [word: 'values' | 'counts', title: string][] = [['values', 'Values'], ['counts', 'Counts']];

export class HistogramPane implements Pane {
  readonly element = h('div', { class: 'tn-pane', 'data-pane': 'histogram' });
  private readonly question = new Question();
  private readonly buttons: HTMLButtonElement[];
  private readonly stage = h('div', { class: 'tn-stage' });
  private readonly readout = h('p', { class: 'tn-readout', role: 'status' });
  private readonly words = h('div', {});
  private readonly picture: Picture;
  private readonly axes: Record<'values' | 'counts', HTMLSelectElement>;
  private histograms: Histograms | null = null;
  private axis: HistogramAxis | null = null;
  private axisOf = ''; // what it is the axis of
  private look: Look | null = null;
  private note = '';
  private reading = false;
  private pointed: { row: number; column: number } | null = null;

  constructor(private readonly owner: PaneOwner) {
    this.buttons = DRAWINGS.map(([drawing, title]) =>
      h('button', { type: 'button', 'data-drawing': drawing, onclick: () => owner.context.change({ drawing }) }, title));
    const [values, counts] = AXES.map(([word, title]) => {
      const select = h('select', { 'data-choice': word, 'aria-label': `${title} axis`, onchange: () => owner.context.change({ [word]: select.value === 'log' ? undefined : select.value }) },
        h('option', { value: 'log' }, 'logarithmic'), h('option', { value: 'linear' }, 'linear'));
      return select;
    }) as [HTMLSelectElement, HTMLSelectElement];
    this.axes = { values, counts };
    this.stage.style.height = `${HEIGHT}px`;
    this.picture = new Picture(this.stage, 'Histogram', (frame) => this.paint(frame));
    this.stage.addEventListener('pointermove', (event) => this.point(event));
    this.stage.addEventListener('pointerleave', () => this.pointAt(null));
    this.stage.addEventListener('keydown', (event) => this.key(event));
    this.stage.tabIndex = 0;
    this.stage.setAttribute('role', 'group');
    this.stage.setAttribute('aria-label', 'Histogram; arrow keys go from bin to bin and from step to step');
    replace(this.element, h('div', { class: 'toolbar' }, h('div', { class: 'tn-buttons', role: 'group', 'aria-label': 'Drawn as' }, ...this.buttons), h('label', {}, 'Values ', values), h('label', {}, 'Counts ', counts)), this.stage, this.readout, this.words);
  }

  show(look: Look): void {
    this.look = look;
    const worker = look.params['worker'];
    const key = `${look.info.id} ${worker ?? ''} ${look.info.steps.map(String).join(' ')}`;
    this.question.ask(key, (signal) => this.load(look, worker, signal), this.owner.failed);
    this.draw();
  }

  csv(): (string | number)[][] {
    const all = this.histograms;
    if (!all) return [];
    const bins = all.lower.length;
    const head = ['step', 'zeros', 'tiny', 'nan', 'positive_inf', 'negative_inf', ...Array.from(all.lower, (low, bin) => `${low}..${all.upper[bin]}`)];
    return [head, ...Array.from(all.steps, (step, row) => [
      step, all.zeros[row]!, all.tiny[row]!, all.nan[row]!, all.positiveInf[row]!, all.negativeInf[row]!,
      ...all.counts.subarray(row * bins, (row + 1) * bins),
    ])];
  }

  async svg(): Promise<Blob | undefined> {
    return svgOfPng(await this.png(), this.stage.clientWidth, HEIGHT, this.histograms ? this.sentence(this.histograms) : '');
  }

  png(): Promise<Blob | undefined> {
    return this.picture.png(2);
  }

  destroy(): void {
    this.question.close();
    this.picture.destroy();
  }

  private drawing(): Drawing {
    const wanted = this.look?.params['drawing'];
    return wanted === 'heat' || wanted === 'bars' ? wanted : 'ridge';
  }

  private isLinear(word: 'values' | 'counts'): boolean {
    return this.look?.params[word] === 'linear';
  }

  private columns(all: Histograms): HistogramAxis {
    const of = `${this.isLinear('values')}`;
    if (!this.axis || this.axisOf !== of) this.axis = this.isLinear('values') ? linearAxis(all) : logAxis(all);
    this.axisOf = of;
    return this.axis;
  }

  private async load(look: Look, worker: string | undefined, signal: AbortSignal): Promise<void> {
    const arrays = await this.owner.api.histograms(look.info.id, worker, signal);
    this.histograms = {
      steps: arrays.f64('steps'), lower: arrays.f64('lower'), upper: arrays.f64('upper'), counts: arrays.f64('counts'), zeros: arrays.f64('zeros'),
      tiny: arrays.f64('tiny'), nan: arrays.f64('nan'), positiveInf: arrays.f64('positive_inf'), negativeInf: arrays.f64('negative_inf'),
    };
    this.axis = null;
    const pending = arrays.json<number>('pending') ?? 0;
    const without = arrays.json<number>('without_histogram') ?? 0;
    const notes = [`${count(this.histograms.steps.length)} of ${count(arrays.json<number>('steps_in_all') ?? 0)} steps`];
    if (without > 0) notes.push(`${count(without)} have statistics without a histogram`);
    if (pending > 0) notes.push(`${count(pending)} are still being computed`);
    this.note = notes.join('; ');
    this.reading = pending > 0;
    if (pending > 0) this.question.forget();
    this.draw();
    if (pending > 0) this.show(this.look!);
  }

  /** The row at the cursor. */
  private row(): number {
    const cursor = this.look?.step ?? Infinity;
    let row = -1;
    this.histograms?.steps.forEach((step, i) => {
      if (step <= cursor) row = i;
    });
    return row;
  }

  private draw(): void {
    for (const button of this.buttons) button.setAttribute('aria-pressed', String(button.dataset['drawing'] === this.drawing()));
    for (const word of ['values', 'counts'] as const) this.axes[word].value = this.isLinear(word) ? 'linear' : 'log';
    const all = this.histograms;
    if (!all || all.steps.length === 0) {
      this.readout.textContent = all && !this.reading ? 'No histogram was kept of this tensor, and no value to compute one from.' : 'Reading histograms …';
      this.stage.hidden = all !== null && !this.reading;
      return;
    }
    this.stage.hidden = false;
    this.picture.describe(this.sentence(all));
    this.picture.schedule();
    const isThere = this.pointed && this.pointed.column < this.columns(all).count && this.pointed.row < all.steps.length;
    this.pointAt(isThere ? this.pointed : null);
    const row = this.row();
    const isOpen = this.words.querySelector<HTMLDetailsElement>('details[data-bins]')?.open ?? false;
    replace(this.words, h('p', { class: 'muted' }, this.explained()), limitsTable(all, row), binsTable(all, Math.max(row, 0), isOpen));
    this.owner.drawn(row < 0 ? null : all.steps[row]!);
  }

  private explained(): string {
    const values = this.isLinear('values') ? 'Columns of equal width, over which each bin is spread evenly.' : 'Bins of equal ratio; what is zero has a column of its own.';
    const drawn = { ridge: 'The newest step is in front; higher', heat: 'Brighter', bars: 'Higher' }[this.drawing()];
    return `${this.note}. ${values} ${drawn}: more, on a ${this.isLinear('counts') ? 'linear' : 'logarithmic'} scale.`;
  }

  private sentence(all: Histograms): string {
    const row = Math.max(this.row(), 0);
    const bins = all.lower.length;
    let best = 0;
    for (let bin = 0; bin < bins; ++bin) if (all.counts[row * bins + bin]! > all.counts[row * bins + best]!) best = bin;
    const most = bins === 0 ? 'all elements are zero or no numbers' : `most elements lie between ${short(all.lower[best]!)} and ${short(all.upper[best]!)}`;
    return `Histogram of ${this.look!.info.name} over ${all.steps.length} steps; at step ${all.steps[row]} ${most}; ${count(all.zeros[row]!)} are zero, ${count(all.nan[row]!)} NaN`;
  }

  // --- pointing

  private rowsShown(): number[] {
    const rows = this.histograms!.steps.length;
    if (this.drawing() === 'bars') return [Math.max(this.row(), 0)];
    if (this.drawing() === 'heat' || rows <= RIDGES) return Array.from({ length: rows }, (_, i) => i);
    return Array.from({ length: RIDGES }, (_, i) => Math.round((i * (rows - 1)) / (RIDGES - 1)));
  }

  private point(event: PointerEvent): void {
    const all = this.histograms;
    if (!all) return;
    const box = this.stage.getBoundingClientRect();
    const columns = this.columns(all).count;
    const column = Math.floor(((event.clientX - box.left - LEFT) / acrossOf(box.width)) * columns);
    const row = rowAt(event.clientY - box.top, this.rowsShown());
    this.pointAt(column >= 0 && column < columns ? { row, column } : null);
  }

  private pointAt(place: { row: number; column: number } | null): void {
    this.pointed = place;
    const all = this.histograms;
    if (!all) return;
    const row = place?.row ?? Math.max(this.row(), 0);
    const others = `${count(all.zeros[row]!)} zero, ${count(all.tiny[row]!)} too small for a bin, ${count(all.nan[row]!)} NaN, ${count(all.positiveInf[row]!)} +∞, ${count(all.negativeInf[row]!)} −∞`;
    if (!place) {
      this.readout.textContent = `Step ${all.steps[row]}: ${others}`;
      return;
    }
    const axis = this.columns(all);
    const many = axis.row(row)[place.column] ?? 0;
    const elements = Number.isInteger(many) ? count(many) : `about ${short(many)}`;
    this.readout.textContent = `Step ${all.steps[row]}, ${axis.limits(place.column)}: ${elements} elements; ${others}`;
    this.picture.schedule();
  }

  private key(event: KeyboardEvent): void {
    const all = this.histograms;
    if (!all || event.ctrlKey || event.metaKey || event.altKey) return;
    const columns = this.columns(all).count;
    const at = this.pointed ?? { row: Math.max(this.row(), 0), column: Math.floor(columns / 2) };
    const by: Record<string, [number, number]> = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const move = by[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    this.pointAt({
      row: Math.min(all.steps.length - 1, Math.max(0, at.row + move[0])),
      column: Math.min(columns - 1, Math.max(0, at.column + move[1])),
    });
  }

  // --- drawing

  private paint({ context, width }: Frame): void {
    const all = this.histograms;
    if (!all || all.steps.length === 0) return;
    drawHistogram(context, width, {
      axis: this.columns(all), rows: this.rowsShown(), steps: all.steps, drawing: this.drawing(), logCounts: !this.isLinear('counts'),
      atCursor: this.row(), pointed: this.pointed, theme: themeOf(this.stage),
    });
  }
}
