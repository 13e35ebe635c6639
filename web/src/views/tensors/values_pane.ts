// The elements of a tensor: a grid to scroll in, exact numbers under the pointer and the cursor, and as a table.
import { type Frame, Picture } from '../../draw/canvas';
import { blueOrange, colourAt, inkOn, type Lut, nonFinite, viridis } from '../../draw/colours';
import { h, replace } from '../../draw/dom';
import { npyOf } from '../../draw/files';
import { numberOf, short } from '../../draw/numbers';

import type { StringsValue, TensorApi } from './api';
import { type Axes, axesOf, sliceOf } from './axes';
import { axesBar } from './axes_bar';
import { type OtherTensor, otherTensor } from './comparison';
import { type Look, type Pane, type PaneOwner, Question, stepOf } from './pane';
import { svgOfPng } from './svg_picture';
import { TileStore } from './tile_store';

const CELL_WIDTH = 76;
const CELL_HEIGHT = 22;
const HEAD = 56; // for the indices
const HEIGHT = 440;
const LARGEST = 8e6; // pixels that a browser can scroll; more elements are packed closer

/** A colour scale: signed numbers around zero, others from least to greatest. */
export interface Scale {
  low: number;
  high: number;
  lut: Lut;
}

export function scaleOf(min: number, max: number): Scale {
  if (min < 0 && max > 0) {
    const far = Math.max(-min, max);
    return { low: -far, high: far, lut: blueOrange() };
  }
  return { low: min, high: max, lut: viridis() };
}

export function placeOn(scale: Scale, value: number): number {
  return scale.high === scale.low ? 0.5 : (value - scale.low) / (scale.high - scale.low);
}

/** "[0, 3, 12]": the index of an element in the whole tensor. */
export function indexText(axes: Axes, row: number, column: number): string {
  const index = axes.at.map((at, dimension) => (dimension === axes.down ? row : dimension === axes.across ? column : at));
  return `[${index.join(', ')}]`;
}

export class ValuesPane implements Pane {
  readonly element = h('div', { class: 'tn-pane', 'data-pane': 'values' });
  private readonly bar = h('div', {});
  private readonly readout = h('p', { class: 'tn-readout mono', role: 'status', 'data-readout': true });
  private readonly scroller = h('div', { class: 'tn-grid', tabindex: '0', role: 'group', 'aria-label': 'Elements; arrow keys move the cursor' });
  private readonly sheet = h('div', { class: 'tn-sheet' });
  private readonly stage = h('div', { class: 'tn-grid-stage' });
  private readonly table = h('div', {});
  private readonly picture: Picture;
  private readonly scaleQuestion = new Question();
  private readonly textQuestion = new Question();
  private readonly otherQuestion = new Question();
  private tiles: TileStore | null = null;
  private others: TileStore | null = null; // what is compared with
  private other: OtherTensor | null = null;
  private farthest = 0; // of the differences seen
  private look: Look | null = null;
  private step: number | null = null;
  private shape: number[] = [];
  private axes: Axes = { over: null, down: null, across: null, at: [] };
  private scale: Scale | null = null;
  private cursor = { row: 0, column: 0 };
  private corner = { row: 0, column: 0 }; // the element in sight at the top left
  private of = '';
  private texts: StringsValue | null = null;

  constructor(private readonly owner: PaneOwner) {
    this.scroller.append(this.stage, this.sheet);
    this.picture = new Picture(this.stage, 'Elements', (frame) => this.paint(frame));
    this.scroller.addEventListener('scroll', () => this.scrolled(), { passive: true });
    this.scroller.addEventListener('click', () => owner.context.change({ cell: `${this.cursor.row},${this.cursor.column}` }));
    this.scroller.addEventListener('pointermove', (event) => this.point(event));
    this.scroller.addEventListener('keydown', (event) => this.key(event));
    replace(this.element, this.bar, this.readout, this.scroller, this.table);
  }

  show(look: Look): void {
    this.look = look;
    this.step = stepOf(look, 'value');
    this.shape = look.info.shape ?? [];
    if (this.step === null) {
      replace(this.bar, h('p', {}, 'No value was kept of this tensor, only numbers about it.'));
      this.scroller.hidden = true;
      this.readout.textContent = '';
      replace(this.table);
      return;
    }
    if (look.info.dtype === 'string') this.showTexts();
    else this.showNumbers();
  }

  csv(): (string | number)[][] {
    if (this.texts) return this.texts.strings.map((text, i) => [i, text]);
    return this.window().rows.map((row) => row.map((cell) => cell.text));
  }

  /** All of what runs down and across. */
  async npy(): Promise<Blob | undefined> {
    if (this.step === null || this.texts) return undefined;
    const part = sliceOf(this.shape, this.axes, {});
    const { array } = await this.owner.api.value(this.look!.info.id, this.step, part.slice, part.axes || undefined, this.look!.params['worker']);
    return npyOf(array.dtype, array.shape, array.bytes);
  }

  async svg(): Promise<Blob | undefined> {
    return svgOfPng(await this.png(), this.scroller.clientWidth, HEIGHT, this.picture.canvas.getAttribute('aria-label') ?? '');
  }

  png(): Promise<Blob | undefined> {
    return this.texts ? Promise.resolve(undefined) : this.picture.png(2);
  }

  destroy(): void {
    this.tiles?.close();
    this.others?.close();
    this.otherQuestion.close();
    this.scaleQuestion.close();
    this.textQuestion.close();
    this.picture.destroy();
  }

  // --- texts

  private showTexts(): void {
    this.scroller.hidden = true;
    const { look, step } = this;
    this.textQuestion.ask(`${look!.info.id} ${step}`, async (signal) => {
      this.texts = await this.owner.api.strings(look!.info.id, step!, '', look!.params['worker'], signal);
      this.drawTexts();
    }, this.owner.failed);
  }

  private drawTexts(): void {
    const texts = this.texts!;
    const most = 2000;
    const rows = texts.strings.slice(0, most).map((text, i) => h('tr', {}, h('th', { scope: 'row', class: 'number' }, i), h('td', { class: 'mono' }, text)));
    const note = texts.strings.length > most ? `The first ${most} of ${texts.strings.length}; the file has all.` : `${texts.strings.length} texts`;
    replace(this.bar, h('p', { class: 'muted' }, `${note}, at step ${texts.step}`));
    replace(this.table, h('div', { class: 'tn-wide', tabindex: '0', role: 'region', 'aria-label': 'Texts' }, h('table', { class: 'table' }, h('tbody', {}, ...rows))));
    this.owner.drawn(texts.step);
  }

  // --- numbers

  private showNumbers(): void {
    const { look, step } = this;
    this.scroller.hidden = false;
    this.texts = null;
    this.axes = axesOf(this.shape, look!.params, false);
    const of = [look!.info.id, step, look!.params['worker'], this.axes.down, this.axes.across, this.axes.at].join(' ');
    if (of !== this.of) {
      this.of = of;
      this.tiles?.close();
      this.tiles = this.storeOf(this.owner.api, look!.info.id, step!, look!.params['worker']);
      const [row, column] = (look!.params['cell'] ?? '').split(',').map(Number);
      this.cursor = { row: held(row, this.rows()), column: held(column, this.columns()) };
      replace(this.bar, axesBar(this.shape, this.axes, false, (words) => this.owner.context.change(words)));
      const scrollbar = 18;
      this.scroller.style.height = `${Math.min(HEIGHT, (this.rows() + 1) * CELL_HEIGHT + scrollbar)}px`;
      this.sheet.style.width = `${this.columns() * this.pitch().across + HEAD}px`;
      this.sheet.style.height = `${this.rows() * this.pitch().down + CELL_HEIGHT}px`;
      this.corner = { row: 0, column: 0 };
      this.follow();
    }
    this.compare(of);
    this.scaleQuestion.ask(`${look!.info.id} ${step}`, async (signal) => {
      const numbers = await this.owner.context.source.json<Record<string, number | string>>(
        `/runs/${this.owner.context.run.id}/tensors/${look!.info.id}/steps/${step}/statistics`, { worker: look!.params['worker'] }, signal);
      this.scale = scaleOf(numberOf(numbers['min']), numberOf(numbers['max']));
      this.picture.schedule();
    }, this.owner.failed);
    this.picture.schedule();
    this.read();
  }

  private storeOf(api: TensorApi, id: string, step: number, worker: string | undefined): TileStore {
    const arrived = () => {
      this.picture.schedule();
      this.read();
      this.owner.drawn(this.step);
    };
    return new TileStore({ api, id, step, worker, shape: this.shape, axes: this.axes }, arrived, this.owner.failed);
  }

  /** Begins to compare when the link says so. */
  private compare(of: string): void {
    const look = this.look!;
    const key = `${of} ${look.params['b'] ?? ''} ${look.params['b']?.startsWith('@') ? look.step : ''}`;
    this.otherQuestion.ask(key, async (signal) => {
      this.others?.close();
      this.others = null;
      this.other = null;
      this.farthest = 0;
      const other = await otherTensor(look, this.owner, signal);
      if (signal.aborted) return;
      if (other && String(other.info.shape) !== String(look.info.shape)) {
        throw new Error(`${other.title} has the shape [${other.info.shape?.join(', ')}]; only equal shapes can be compared.`);
      }
      this.other = other;
      this.others = other && this.storeOf(other.api, other.info.id, other.step, undefined);
      this.picture.schedule();
      this.read();
    }, this.owner.failed);
  }

  private rows(): number {
    return this.tiles?.rows ?? 0;
  }

  private columns(): number {
    return this.tiles?.columns ?? 0;
  }

  /** What a cell shows: the element, or how far it is from the one that it is compared with. */
  private cellAt(row: number, column: number): { text: string; number: number } {
    const element = this.tiles?.at(row, column);
    if (!element) return { text: '…', number: NaN };
    if (!this.others) return element;
    const other = this.others.at(row, column);
    if (!other) return { text: '…', number: NaN };
    const number = element.number - other.number;
    if (Number.isFinite(number)) this.farthest = Math.max(this.farthest, Math.abs(number));
    return { text: short(number), number };
  }

  /** Says what is under the cursor. */
  private read(): void {
    const { row, column } = this.cursor;
    if (this.rows() === 0 || this.columns() === 0) {
      this.readout.textContent = 'The tensor has no elements.';
      return;
    }
    const element = this.tiles?.at(row, column);
    const at = indexText(this.axes, row, column);
    this.readout.textContent = element ? `${at} = ${element.text}  (${this.look!.info.dtype}, ${element.bits}, step ${this.step})${this.comparedText(row, column)}` : `${at} …`;
    this.picture.describe(`Elements of ${this.look!.info.name}, ${this.rows()} by ${this.columns()}; ${this.readout.textContent}`);
    this.drawTable();
  }

  private comparedText(row: number, column: number): string {
    if (!this.other) return '';
    const other = this.others?.at(row, column);
    return `; ${this.other.title}: ${other?.text ?? '…'}; difference ${this.cellAt(row, column).text}`;
  }

  /** Pixels of the scroll bars for each element. */
  private pitch(): { down: number; across: number } {
    return { down: Math.min(CELL_HEIGHT, LARGEST / Math.max(this.rows(), 1)), across: Math.min(CELL_WIDTH, LARGEST / Math.max(this.columns(), 1)) };
  }

  private inSight(): { rows: number; columns: number } {
    const { clientHeight, clientWidth } = this.scroller;
    return {
      rows: Math.max(1, Math.floor((clientHeight || HEIGHT) / CELL_HEIGHT) - 1),
      columns: Math.max(1, Math.floor(((clientWidth || 800) - HEAD) / CELL_WIDTH)),
    };
  }

  /** The position of the scroll bars; after follow() its own position is more exact. */
  private scrolled(): void {
    const { down, across } = this.pitch();
    const { scrollTop, scrollLeft } = this.scroller;
    if (Math.abs(scrollTop - this.corner.row * down) > 1) this.corner.row = held(Math.floor(scrollTop / down), this.rows());
    if (Math.abs(scrollLeft - this.corner.column * across) > 1) this.corner.column = held(Math.floor(scrollLeft / across), this.columns());
    this.picture.schedule();
  }

  private window(): { first: { row: number; column: number }; rows: { text: string; number: number }[][] } {
    const first = this.corner;
    const down = Math.min(this.rows() - first.row, Math.ceil(HEIGHT / CELL_HEIGHT));
    const across = Math.min(this.columns() - first.column, Math.ceil((this.scroller.clientWidth || 800) / CELL_WIDTH));
    const rows = Array.from({ length: Math.max(down, 0) }, (_, y) =>
      Array.from({ length: Math.max(across, 0) }, (_, x) => this.cellAt(first.row + y, first.column + x)));
    return { first, rows };
  }

  private point(event: PointerEvent): void {
    const box = this.scroller.getBoundingClientRect();
    const first = this.corner;
    const row = first.row + Math.floor((event.clientY - box.top - CELL_HEIGHT) / CELL_HEIGHT);
    const column = first.column + Math.floor((event.clientX - box.left - HEAD) / CELL_WIDTH);
    if (row < first.row || column < first.column || row >= this.rows() || column >= this.columns()) return;
    this.cursor = { row, column };
    this.read();
    this.picture.schedule();
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.floor(HEIGHT / CELL_HEIGHT) - 2;
    const by: Record<string, [number, number]> = {
      ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-page, 0], PageDown: [page, 0],
      Home: [0, -this.cursor.column], End: [0, this.columns()],
    };
    const move = by[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    this.cursor = { row: held(this.cursor.row + move[0], this.rows()), column: held(this.cursor.column + move[1], this.columns()) };
    this.follow();
    this.read();
    this.picture.schedule();
  }

  /** Scrolls until the cursor is in sight. */
  private follow(): void {
    const { rows, columns } = this.inSight();
    const { row, column } = this.cursor;
    this.corner = {
      row: Math.max(Math.min(this.corner.row, row), row - rows + 1),
      column: Math.max(Math.min(this.corner.column, column), column - columns + 1),
    };
    this.scroller.scrollTop = this.corner.row * this.pitch().down;
    this.scroller.scrollLeft = this.corner.column * this.pitch().across;
  }

  private paint({ context, width }: Frame): void {
    if (this.step === null || this.texts || !this.look) return;
    const style = getComputedStyle(this.scroller);
    const text = style.color;
    context.font = '12px ui-monospace, Menlo, Consolas, monospace';
    context.textBaseline = 'middle';
    const { first, rows } = this.window();
    rows.forEach((row, y) => row.forEach((cell, x) => this.paintCell(context, cell, HEAD + x * CELL_WIDTH, (y + 1) * CELL_HEIGHT)));
    context.fillStyle = text;
    context.textAlign = 'right';
    rows.forEach((_, y) => context.fillText(String(first.row + y), HEAD - 6, (y + 1.5) * CELL_HEIGHT));
    context.textAlign = 'center';
    (rows[0] ?? []).forEach((_, x) => context.fillText(String(first.column + x), HEAD + (x + 0.5) * CELL_WIDTH, CELL_HEIGHT / 2));
    context.strokeStyle = text;
    context.lineWidth = 2;
    const [x, y] = [this.cursor.column - first.column, this.cursor.row - first.row];
    if (x >= 0 && y >= 0) context.strokeRect(HEAD + x * CELL_WIDTH + 1, (y + 1) * CELL_HEIGHT + 1, Math.min(CELL_WIDTH, width) - 2, CELL_HEIGHT - 2);
  }

  private paintCell(context: CanvasRenderingContext2D, cell: { text: string; number: number }, x: number, y: number): void {
    if (cell.text === '…') return;
    const scale = this.others ? { low: -this.farthest, high: this.farthest, lut: blueOrange() } : this.scale;
    const place = scale ? placeOn(scale, cell.number) : 0.5;
    const lut = scale?.lut ?? viridis();
    const odd = !Number.isFinite(cell.number);
    context.fillStyle = odd ? (Number.isNaN(cell.number) ? nonFinite.nan : cell.number > 0 ? nonFinite.positive : nonFinite.negative) : colourAt(lut, place);
    context.fillRect(x, y, CELL_WIDTH - 1, CELL_HEIGHT - 1);
    context.fillStyle = odd ? '#fff' : inkOn(lut, place);
    context.textAlign = 'center';
    context.fillText(cell.text.length <= 9 ? cell.text : short(cell.number), x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2, CELL_WIDTH - 6);
  }

  /** What is in sight, for who cannot see the grid. Made when it is opened. */
  private drawTable(): void {
    const open = this.table.querySelector('details')?.open ?? false;
    const details = h('details', { open }, h('summary', {}, 'What is in sight, as a table'));
    details.addEventListener('toggle', () => {
      if (details.open && !details.querySelector('table')) details.append(this.windowTable());
    });
    if (open) details.append(this.windowTable());
    replace(this.table, details);
  }

  private windowTable(): HTMLElement {
    const { first, rows } = this.window();
    const head = h('tr', {}, h('td', {}), ...(rows[0] ?? []).map((_, x) => h('th', { scope: 'col', class: 'number' }, first.column + x)));
    const body = rows.map((row, y) => h('tr', {}, h('th', { scope: 'row', class: 'number' }, first.row + y), ...row.map((cell) => h('td', { class: 'number mono' }, cell.text))));
    return h('div', { class: 'tn-wide', tabindex: '0', role: 'region', 'aria-label': 'Elements in sight' }, h('table', { class: 'table' }, h('thead', {}, head), h('tbody', {}, ...body)));
  }
}

function held(at: number | undefined, count: number): number {
  return Number.isFinite(at) ? Math.min(Math.max(count - 1, 0), Math.max(0, Math.round(at!))) : 0;
}
