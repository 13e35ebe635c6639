// The elements of a tensor: a grid to scroll in, exact numbers under the pointer and the cursor, and as a table.
import { type Frame, Picture } from '../../draw/canvas';
import { blueOrange, colourAt, inkOn, type Lut, nonFinite, viridis } from '../../draw/colours';
import { h, replace } from '../../draw/dom';
import { npyOf } from '../../draw/files';
import { numberOf, short } from '../../draw/numbers';

import type { NumbersValue, StringsValue } from './api';
import { type Axes, axesOf, sliceOf } from './axes';
import { axesBar } from './axes_bar';
import { Elements } from './element_text';
import { type Look, type Pane, type PaneOwner, Question, stepOf } from './pane';

const TILE = 64; // elements a side, of one question
const CELL_WIDTH = 76;
const CELL_HEIGHT = 22;
const HEAD = 56; // for the indices
const HEIGHT = 440;
const LARGEST = 8e6; // pixels that a browser scrolls over

export interface Tile {
  value: NumbersValue;
  elements: Elements;
  width: number;
}

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

/** "[0, 3, 12]": where an element stands in the whole tensor. */
export function indexText(axes: Axes, row: number, column: number): string {
  const index = axes.at.map((at, dimension) => (dimension === axes.down ? row : dimension === axes.across ? column : at));
  return `[${index.join(', ')}]`;
}

export class ValuesPane implements Pane {
  readonly element = h('div', { class: 'tn-pane', 'data-pane': 'values' });
  private readonly bar = h('div', {});
  private readonly readout = h('p', { class: 'tn-readout mono', role: 'status', 'data-readout': true });
  private readonly scroller = h('div', { class: 'tn-grid', tabindex: '0', role: 'grid', 'aria-label': 'Elements; arrow keys move the cursor' });
  private readonly sheet = h('div', { class: 'tn-sheet' });
  private readonly stage = h('div', { class: 'tn-grid-stage' });
  private readonly table = h('div', {});
  private readonly picture: Picture;
  private readonly scaleQuestion = new Question();
  private readonly textQuestion = new Question();
  private readonly tiles = new Map<string, Tile | 'asked'>();
  private look: Look | null = null;
  private step: number | null = null;
  private shape: number[] = [];
  private axes: Axes = { over: null, down: null, across: null, at: [] };
  private scale: Scale | null = null;
  private cursor = { row: 0, column: 0 };
  private asking = new AbortController();
  private of = '';
  private texts: StringsValue | null = null;

  constructor(private readonly owner: PaneOwner) {
    this.scroller.style.height = `${HEIGHT}px`;
    this.scroller.append(this.stage, this.sheet);
    this.picture = new Picture(this.stage, 'Elements', (frame) => this.paint(frame));
    this.scroller.addEventListener('scroll', () => this.picture.schedule(), { passive: true });
    this.scroller.addEventListener('pointermove', (event) => this.point(event));
    this.scroller.addEventListener('keydown', (event) => this.key(event));
    replace(this.element, this.bar, this.readout, this.scroller, this.table);
  }

  show(look: Look): void {
    this.look = look;
    this.step = stepOf(look, 'value');
    this.shape = look.info.shape ?? [];
    if (this.step === null) {
      replace(this.bar, h('p', {}, 'No value was kept at or before this step, only numbers about it.'));
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

  npy(): Promise<Blob | undefined> {
    const tile = this.tileAt(this.cursor.row, this.cursor.column);
    return Promise.resolve(tile ? npyOf(tile.value.array.dtype, tile.value.array.shape, tile.value.array.bytes) : undefined);
  }

  png(): Promise<Blob | undefined> {
    return this.texts ? Promise.resolve(undefined) : this.picture.png(2);
  }

  destroy(): void {
    this.asking.abort();
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
      this.asking.abort();
      this.asking = new AbortController();
      this.tiles.clear();
      const [row, column] = (look!.params['cell'] ?? '').split(',').map(Number);
      this.cursor = { row: held(row, this.rows()), column: held(column, this.columns()) };
      replace(this.bar, axesBar(this.shape, this.axes, false, (words) => this.owner.context.change(words)));
      this.sheet.style.width = `${Math.min(this.columns() * CELL_WIDTH + HEAD, LARGEST)}px`;
      this.sheet.style.height = `${Math.min(this.rows() * CELL_HEIGHT + CELL_HEIGHT, LARGEST)}px`;
      this.scroller.setAttribute('aria-rowcount', String(this.rows()));
      this.scroller.setAttribute('aria-colcount', String(this.columns()));
    }
    this.scaleQuestion.ask(`${look!.info.id} ${step}`, async (signal) => {
      const numbers = await this.owner.context.source.json<Record<string, number | string>>(
        `/runs/${this.owner.context.run.id}/tensors/${look!.info.id}/steps/${step}/statistics`, { worker: look!.params['worker'] }, signal);
      this.scale = scaleOf(numberOf(numbers['min']), numberOf(numbers['max']));
      this.picture.schedule();
    }, this.owner.failed);
    this.picture.schedule();
    this.read();
  }

  private rows(): number {
    return this.axes.down === null ? 1 : this.shape[this.axes.down]!;
  }

  private columns(): number {
    return this.axes.across === null ? 1 : this.shape[this.axes.across]!;
  }

  private tileKey(row: number, column: number): string {
    return `${Math.floor(row / TILE)} ${Math.floor(column / TILE)}`;
  }

  /** The tile with an element; asks for it when it is not there yet. */
  private tileAt(row: number, column: number): Tile | null {
    const key = this.tileKey(row, column);
    const known = this.tiles.get(key);
    if (known) return known === 'asked' ? null : known;
    this.tiles.set(key, 'asked');
    const range = (at: number, all: number): readonly [number, number] => {
      const first = Math.floor(at / TILE) * TILE;
      return [first, Math.min(first + TILE, all)];
    };
    const { slice, axes } = sliceOf(this.shape, this.axes, { down: range(row, this.rows()), across: range(column, this.columns()) });
    const signal = this.asking.signal;
    this.owner.api.value(this.look!.info.id, this.step!, slice, axes === '' ? undefined : axes, this.look!.params['worker'], signal).then(
      (value) => {
        if (signal.aborted) return;
        const width = Math.min(TILE, this.columns() - Math.floor(column / TILE) * TILE);
        this.tiles.set(key, { value, elements: new Elements(value.array, value.dtype), width });
        this.picture.schedule();
        this.read();
        this.owner.drawn(this.step);
      },
      (error: unknown) => {
        if (signal.aborted) return;
        this.tiles.delete(key);
        this.owner.failed(error);
      },
    );
    return null;
  }

  private elementAt(row: number, column: number): { text: string; bits: string; number: number } | null {
    const tile = this.tileAt(row, column);
    if (!tile) return null;
    const index = (row % TILE) * tile.width + (column % TILE);
    return { text: tile.elements.text(index), bits: tile.elements.bits(index), number: tile.elements.number(index) };
  }

  /** Says what is under the cursor. */
  private read(): void {
    const { row, column } = this.cursor;
    if (this.rows() === 0 || this.columns() === 0) {
      this.readout.textContent = 'The tensor has no elements.';
      return;
    }
    const element = this.elementAt(row, column);
    const at = indexText(this.axes, row, column);
    this.readout.textContent = element ? `${at} = ${element.text}  (${this.look!.info.dtype}, ${element.bits}, step ${this.step})` : `${at} …`;
    this.picture.describe(`Elements of ${this.look!.info.name}, ${this.rows()} by ${this.columns()}; ${this.readout.textContent}`);
    this.drawTable();
  }

  private first(): { row: number; column: number } {
    return { row: Math.floor(this.scroller.scrollTop / CELL_HEIGHT), column: Math.floor(this.scroller.scrollLeft / CELL_WIDTH) };
  }

  private window(): { first: { row: number; column: number }; rows: { text: string; number: number }[][] } {
    const first = this.first();
    const down = Math.min(this.rows() - first.row, Math.ceil(HEIGHT / CELL_HEIGHT));
    const across = Math.min(this.columns() - first.column, Math.ceil((this.scroller.clientWidth || 800) / CELL_WIDTH));
    const rows = Array.from({ length: Math.max(down, 0) }, (_, y) =>
      Array.from({ length: Math.max(across, 0) }, (_, x) => this.elementAt(first.row + y, first.column + x) ?? { text: '…', number: NaN }));
    return { first, rows };
  }

  private point(event: PointerEvent): void {
    const box = this.scroller.getBoundingClientRect();
    const first = this.first();
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
    const [top, left] = [this.cursor.row * CELL_HEIGHT, this.cursor.column * CELL_WIDTH];
    const [tall, wide] = [this.scroller.clientHeight - 3 * CELL_HEIGHT, this.scroller.clientWidth - HEAD - 2 * CELL_WIDTH];
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    if (top > this.scroller.scrollTop + tall) this.scroller.scrollTop = top - tall;
    if (left < this.scroller.scrollLeft) this.scroller.scrollLeft = left;
    if (left > this.scroller.scrollLeft + wide) this.scroller.scrollLeft = left - wide;
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
    const place = this.scale ? placeOn(this.scale, cell.number) : 0.5;
    const lut = this.scale?.lut ?? viridis();
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
