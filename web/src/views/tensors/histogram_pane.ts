// How a tensor's elements are spread over steps: a ridge, a heat map, or the bars of one step, with the limits of the
// small floating-point types.
import { type Frame, Picture } from '../../draw/canvas';
import { paint, viridis } from '../../draw/colours';
import { h, replace } from '../../draw/dom';
import { count, short } from '../../draw/numbers';
import { themeOf } from '../../draw/theme';

import { LIMITS, sharesOf } from './dtype_limits';
import { type Look, type Pane, type PaneOwner, Question } from './pane';
import { svgOfPng } from './svg_picture';

export interface Histograms {
  steps: Float64Array;
  lower: Float64Array;
  upper: Float64Array;
  counts: Float64Array; // steps x bins
  zeros: Float64Array;
  tiny: Float64Array;
  nan: Float64Array;
  positiveInf: Float64Array;
  negativeInf: Float64Array;
}

type Drawing = 'ridge' | 'heat' | 'bars';
const DRAWINGS: [Drawing, string][] = [['ridge', 'Ridge'], ['heat', 'Heat map'], ['bars', 'One step']];
const LEFT = 60;
const FOOT = 60;
const HEAD = 30;
const HEIGHT = 400;
const RIDGES = 24; // at most

/** Columns of a drawing: the bins, and one for elements at zero between the signs (or at the end of one). */
export interface Columns {
  count: number;
  /** Of the column at zero. */
  zero: number;
  of(bin: number): number;
}

export function columnsOf(histograms: Histograms): Columns {
  let negative = 0;
  while (negative < histograms.lower.length && histograms.upper[negative]! <= 0) ++negative;
  return { count: histograms.lower.length + 1, zero: negative, of: (bin) => (bin < negative ? bin : bin + 1) };
}

/** The place of a number among the columns; null outside of them. */
export function placeOf(histograms: Histograms, value: number): number | null {
  const columns = columnsOf(histograms);
  for (let bin = 0; bin < histograms.lower.length; ++bin) {
    const [low, high] = [histograms.lower[bin]!, histograms.upper[bin]!];
    if (value < low || value > high) continue;
    return columns.of(bin) + Math.log(value / low) / Math.log(high / low);
  }
  return null;
}

/** Limits of the small types within the columns, from left to right. */
export function guidesOf(histograms: Histograms): { place: number; word: string }[] {
  const guides = LIMITS.flatMap(({ dtype, largest, smallestNormal }) =>
    ([[largest, 'max'], [smallestNormal, 'min']] as const).flatMap(([value, word]) =>
      [value, -value].map((signed) => ({ place: placeOf(histograms, signed), word: `${dtype.replace('float', 'fp')} ${word}` }))));
  return guides.filter((guide): guide is { place: number; word: string } => guide.place !== null).sort((a, b) => a.place - b.place);
}

function rowOf(histograms: Histograms, row: number): Float64Array {
  const columns = columnsOf(histograms);
  const bins = histograms.lower.length;
  const values = new Float64Array(columns.count);
  for (let bin = 0; bin < bins; ++bin) values[columns.of(bin)] = histograms.counts[row * bins + bin]!;
  values[columns.zero] = histograms.zeros[row]! + histograms.tiny[row]!;
  return values;
}

export class HistogramPane implements Pane {
  readonly element = h('div', { class: 'tn-pane', 'data-pane': 'histogram' });
  private readonly question = new Question();
  private readonly buttons: HTMLButtonElement[];
  private readonly stage = h('div', { class: 'tn-stage' });
  private readonly readout = h('p', { class: 'tn-readout', role: 'status' });
  private readonly words = h('div', {});
  private readonly picture: Picture;
  private histograms: Histograms | null = null;
  private look: Look | null = null;
  private note = '';
  private reading = false;
  private pointed: { row: number; column: number } | null = null;

  constructor(private readonly owner: PaneOwner) {
    this.buttons = DRAWINGS.map(([drawing, title]) =>
      h('button', { type: 'button', 'data-drawing': drawing, onclick: () => owner.context.change({ drawing }) }, title));
    this.stage.style.height = `${HEIGHT}px`;
    this.picture = new Picture(this.stage, 'Histogram', (frame) => this.paint(frame));
    this.stage.addEventListener('pointermove', (event) => this.point(event));
    this.stage.addEventListener('pointerleave', () => this.pointAt(null));
    this.stage.addEventListener('keydown', (event) => this.key(event));
    this.stage.tabIndex = 0;
    this.stage.setAttribute('role', 'group');
    this.stage.setAttribute('aria-label', 'Histogram; arrow keys go from bin to bin and from step to step');
    replace(this.element, h('div', { class: 'toolbar tn-buttons', role: 'group', 'aria-label': 'Drawn as' }, ...this.buttons), this.stage, this.readout, this.words);
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

  private async load(look: Look, worker: string | undefined, signal: AbortSignal): Promise<void> {
    const arrays = await this.owner.api.histograms(look.info.id, worker, signal);
    this.histograms = {
      steps: arrays.f64('steps'), lower: arrays.f64('lower'), upper: arrays.f64('upper'), counts: arrays.f64('counts'), zeros: arrays.f64('zeros'),
      tiny: arrays.f64('tiny'), nan: arrays.f64('nan'), positiveInf: arrays.f64('positive_inf'), negativeInf: arrays.f64('negative_inf'),
    };
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
    const all = this.histograms;
    if (!all || all.steps.length === 0) {
      this.readout.textContent = all && !this.reading ? 'No histogram was kept of this tensor, and no value to compute one from.' : 'Reading histograms …';
      this.stage.hidden = all !== null && !this.reading;
      return;
    }
    this.stage.hidden = false;
    this.picture.describe(this.sentence(all));
    this.picture.schedule();
    this.pointAt(this.pointed);
    replace(this.words, h('p', { class: 'muted' }, `${this.note}. Bins of equal ratio; what is zero has a column of its own. Brighter and higher: more, on a logarithmic scale.`), this.limitsTable(all), this.binsTable(all));
    const row = this.row();
    this.owner.drawn(row < 0 ? null : all.steps[row]!);
  }

  private sentence(all: Histograms): string {
    const row = Math.max(this.row(), 0);
    const bins = all.lower.length;
    let best = 0;
    for (let bin = 0; bin < bins; ++bin) if (all.counts[row * bins + bin]! > all.counts[row * bins + best]!) best = bin;
    const most = bins === 0 ? 'all elements are zero or no numbers' : `most elements lie between ${short(all.lower[best]!)} and ${short(all.upper[best]!)}`;
    return `Histogram of ${this.look!.info.name} over ${all.steps.length} steps; at step ${all.steps[row]} ${most}; ${count(all.zeros[row]!)} are zero, ${count(all.nan[row]!)} NaN`;
  }

  private limitsTable(all: Histograms): HTMLElement | null {
    const row = this.row();
    if (row < 0 || all.lower.length === 0) return null;
    const bins = all.lower.length;
    const counts = all.counts.subarray(row * bins, (row + 1) * bins);
    const percent = (part: number) => h('td', { class: part > 0 ? 'number warn' : 'number' }, part > 0 ? `${short(100 * part, 3)} %` : 'none');
    const rows = LIMITS.map((limits) => {
      const shares = sharesOf(limits, all.lower, all.upper, counts);
      return h('tr', {}, h('th', { scope: 'row' }, limits.dtype), h('td', { class: 'number' }, short(limits.largest)), h('td', { class: 'number' }, short(limits.smallestNormal)),
        percent(shares.over), percent(shares.coarse), percent(shares.zero));
    });
    const titles = ['type', 'largest', 'smallest normal', 'would overflow', 'would lose digits', 'would become zero'];
    return h('details', { open: true }, h('summary', {}, `In smaller types, at step ${all.steps[row]} (of what is not zero, by bins)`),
      h('table', { class: 'table tn-limits' }, h('thead', {}, h('tr', {}, ...titles.map((title) => h('th', { scope: 'col' }, title)))), h('tbody', {}, ...rows)));
  }

  private binsTable(all: Histograms): HTMLElement {
    const row = Math.max(this.row(), 0);
    const bins = all.lower.length;
    const lines = Array.from(all.lower, (low, bin) => [`${short(low)} to ${short(all.upper[bin]!)}`, all.counts[row * bins + bin]!] as const).filter(([, many]) => many > 0);
    const others = [['zero', all.zeros[row]!], ['too small for a bin', all.tiny[row]!], ['NaN', all.nan[row]!], ['+∞', all.positiveInf[row]!], ['−∞', all.negativeInf[row]!]] as const;
    const body = [...lines, ...others].map(([title, many]) => h('tr', {}, h('th', { scope: 'row' }, title), h('td', { class: 'number' }, count(many))));
    return h('details', { open: this.words.querySelector<HTMLDetailsElement>('details[data-bins]')?.open ?? false, 'data-bins': true }, h('summary', {}, `Step ${all.steps[row]} as a table`),
      h('table', { class: 'table tn-bins' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'numbers'), h('th', { scope: 'col', class: 'number' }, 'elements'))), h('tbody', {}, ...body)));
  }

  // --- pointing

  private geometry(width: number): { left: number; across: number; down: number } {
    return { left: LEFT, across: Math.max(width - LEFT - 28, 1), down: HEIGHT - FOOT - HEAD };
  }

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
    const { left, across, down } = this.geometry(box.width);
    const column = Math.floor(((event.clientX - box.left - left) / across) * columnsOf(all).count);
    const rows = this.rowsShown();
    const row = rows[Math.min(rows.length - 1, Math.max(0, Math.floor(((event.clientY - box.top - HEAD) / down) * rows.length)))]!;
    this.pointAt(column >= 0 && column < columnsOf(all).count ? { row, column } : null);
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
    const columns = columnsOf(all);
    const values = rowOf(all, row);
    const bin = place.column > columns.zero ? place.column - 1 : place.column;
    const limits = place.column === columns.zero ? 'zero' : `${short(all.lower[bin]!)} to ${short(all.upper[bin]!)}`;
    this.readout.textContent = `Step ${all.steps[row]}, ${limits}: ${count(values[place.column]!)} elements; ${others}`;
    this.picture.schedule();
  }

  private key(event: KeyboardEvent): void {
    const all = this.histograms;
    if (!all || event.ctrlKey || event.metaKey || event.altKey) return;
    const columns = columnsOf(all).count;
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
    const theme = themeOf(this.stage);
    const { left, across, down } = this.geometry(width);
    context.fillStyle = theme.ground;
    context.fillRect(0, 0, width, HEIGHT);
    const columns = columnsOf(all);
    const rows = this.rowsShown();
    let most = 1;
    for (const row of rows) for (const value of rowOf(all, row)) most = Math.max(most, value);
    const heightOf = (value: number) => (value > 0 ? Math.log1p(value) / Math.log1p(most) : 0);
    if (this.drawing() === 'heat') this.paintHeat(context, rows, heightOf, left, across, down);
    else this.paintRidges(context, rows, heightOf, left, across, down, theme.accent, theme.ground);
    this.paintAxes(context, rows, left, across, down, theme.text, theme.muted);
    if (this.pointed) {
      context.strokeStyle = theme.text;
      context.strokeRect(left + (this.pointed.column / columns.count) * across, HEAD, across / columns.count, down);
    }
  }

  private paintHeat(context: CanvasRenderingContext2D, rows: number[], heightOf: (value: number) => number, left: number, across: number, down: number): void {
    const all = this.histograms!;
    const columns = columnsOf(all).count;
    const image = new ImageData(columns, rows.length);
    rows.forEach((row, y) => rowOf(all, row).forEach((value, x) => {
      if (value > 0) paint(viridis(), heightOf(value), image.data, 4 * (y * columns + x));
    }));
    const small = document.createElement('canvas');
    small.width = columns;
    small.height = rows.length;
    small.getContext('2d')?.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, left, HEAD, across, down);
  }

  private paintRidges(context: CanvasRenderingContext2D, rows: number[], heightOf: (value: number) => number, left: number, across: number, down: number, line: string, ground: string): void {
    const all = this.histograms!;
    const columns = columnsOf(all);
    const each = down / rows.length;
    const tall = rows.length === 1 ? down : Math.min(each * 2.5, each + HEAD - 4);
    const atCursor = this.row();
    rows.forEach((row, place) => {
      const base = HEAD + each * (place + 1);
      context.beginPath();
      context.moveTo(left, base);
      rowOf(all, row).forEach((value, column) => {
        const y = base - heightOf(value) * tall;
        context.lineTo(left + (column / columns.count) * across, y);
        context.lineTo(left + ((column + 1) / columns.count) * across, y);
      });
      context.lineTo(left + across, base);
      context.closePath();
      context.fillStyle = rows.length === 1 ? line : ground;
      context.fill();
      context.strokeStyle = line;
      context.lineWidth = row === atCursor ? 2.5 : 1;
      context.stroke();
    });
  }

  private paintAxes(context: CanvasRenderingContext2D, rows: number[], left: number, across: number, down: number, text: string, muted: string): void {
    const all = this.histograms!;
    const columns = columnsOf(all);
    context.fillStyle = text;
    context.font = '11px system-ui, sans-serif';
    context.textAlign = 'right';
    const every = Math.max(1, Math.ceil((rows.length * 14) / down));
    rows.forEach((row, place) => {
      if (place % every === 0) context.fillText(String(all.steps[row]), left - 6, HEAD + (down / rows.length) * (place + (rows.length === 1 ? 0.5 : 0.8)));
    });
    context.textAlign = 'center';
    const x = (column: number) => left + (column / columns.count) * across;
    const ticks = Math.max(2, Math.floor(across / 110));
    for (let i = 0; i <= ticks; ++i) {
      const bin = Math.round((i / ticks) * (all.lower.length - 1));
      const column = columns.of(bin);
      if (Math.abs(column - columns.zero) * (across / columns.count) > 40) context.fillText(short(all.lower[bin]!, 2), x(column), HEAD + down + 14);
    }
    context.fillText('0', x(columns.zero + 0.5), HEAD + down + 14);
    this.paintGuides(context, x, down, muted);
  }

  private paintGuides(context: CanvasRenderingContext2D, x: (column: number) => number, down: number, colour: string): void {
    context.strokeStyle = colour;
    context.fillStyle = colour;
    context.setLineDash([4, 3]);
    context.lineWidth = 1;
    const ends: number[] = []; // of the labels in each line below
    for (const { place, word } of guidesOf(this.histograms!)) {
      context.beginPath();
      context.moveTo(x(place), HEAD);
      context.lineTo(x(place), HEAD + down);
      context.stroke();
      const half = context.measureText(word).width / 2;
      const free = ends.findIndex((end) => end < x(place) - half - 4);
      const line = free < 0 ? ends.length : free;
      if (line > 2) continue; // no room; the table below has all of them
      ends[line] = x(place) + half;
      context.fillText(word, x(place), HEAD + down + 28 + 12 * line);
    }
    context.setLineDash([]);
  }
}
