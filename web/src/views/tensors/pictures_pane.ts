// Images and kernels as strips: a row for each of them, a column for each step.
import { type Frame, Picture } from '../../draw/canvas';
import { h, replace } from '../../draw/dom';
import { drawerOf } from '../../draw/drawer';
import { keepingFocus } from '../../draw/focus';
import { count, exact, short } from '../../draw/numbers';
import { themeOf } from '../../draw/theme';
import { StepRanges } from '../../data/step_ranges';

import { type Axes, axesOf, sliceOf } from './axes';
import { axesBar } from './axes_bar';
import { Elements } from './element_text';
import { type Look, type Pane, type PaneOwner, stepOf } from './pane';
import { PALETTES, SmallPictures, type Palette, type PictureColumn, type PictureRange } from './small_pictures';
import { svgOfPng } from './svg_picture';

type ScaleChoice = 'picture' | 'strip' | 'shared';
const SCALES: [ScaleChoice, string][] = [['shared', 'One for all'], ['strip', 'Each row'], ['picture', 'Each picture']];
const MOST_COLUMNS = 24;
const MOST_KEPT = 48; // columns: who goes back and forth finds them again
const MOST_EXACT = 64; // pictures of which the exact elements are kept
const ROWS = 16; // on a page
const GAP = 6;
const LEFT = 64;
const TOP = 20;

/** Lowest and highest number of what shares a scale with (row, column). Null: nothing finite. */
export function rangeFor(columns: readonly PictureColumn[], row: number, column: number, choice: ScaleChoice, symmetric: boolean): PictureRange | null {
  let low = Infinity;
  let high = -Infinity;
  columns.forEach((of, c) => {
    if (choice === 'picture' && c !== column) return;
    for (let r = 0; r < of.rows; ++r) {
      if (choice !== 'shared' && r !== row) continue;
      if (of.low[r]! < low) low = of.low[r]!;
      if (of.high[r]! > high) high = of.high[r]!;
    }
  });
  if (!(low <= high)) return null;
  if (!symmetric) return [low, high];
  const far = Math.max(Math.abs(low), Math.abs(high));
  return [-far, far];
}

export class PicturesPane implements Pane {
  readonly element = h('div', { class: 'tn-pane', 'data-pane': 'pictures' });
  private readonly bar = h('div', {});
  private readonly note = h('p', { class: 'muted' });
  private readonly readout = h('p', { class: 'tn-readout', role: 'status', 'data-readout': true });
  private readonly wide = h('div', { class: 'tn-wide', tabindex: '0', role: 'group', 'aria-label': 'Strips; arrow keys go from picture to picture' });
  private readonly stage = h('div', {});
  private readonly table = h('div', {});
  private readonly picture: Picture;
  private readonly columns = new Map<number, PictureColumn>();
  private readonly small = new SmallPictures();
  private readonly exactParts = new Map<string, Elements | 'asked'>();
  private look: Look | null = null;
  private shape: number[] = [];
  private axes: Axes = { over: null, down: null, across: null, at: [] };
  private of = '';
  private barOf = '';
  private size = '';
  private asking = new AbortController();
  private busy = false;
  private leftOut = '';
  private failedSteps = new Set<number>();
  private at = { row: 0, step: -1, y: 0, x: 0 };

  constructor(private readonly owner: PaneOwner) {
    this.picture = new Picture(this.stage, 'Pictures over steps', (frame) => this.paint(frame));
    this.wide.append(this.stage);
    this.stage.addEventListener('pointermove', (event) => this.point(event));
    this.stage.addEventListener('click', () => this.owner.context.seek(this.at.step));
    this.wide.addEventListener('keydown', (event) => this.key(event));
    replace(this.element, drawerOf('Dimensions, scale, colours', this.bar), this.note, this.readout, this.wide, this.table);
  }

  show(look: Look): void {
    this.look = look;
    this.shape = look.info.shape ?? [];
    this.axes = axesOf(this.shape, look.params, true);
    const of = [look.info.id, look.params['worker'], this.axes.over, this.axes.down, this.axes.across, this.axes.at, this.firstRow(), this.pool()].join(' ');
    if (of !== this.of) {
      this.of = of;
      this.asking.abort();
      this.asking = new AbortController();
      this.busy = false;
      this.columns.clear();
      this.failedSteps.clear();
      this.exactParts.clear();
      this.leftOut = '';
    }
    this.drawBar();
    if (this.axes.down === null || this.axes.across === null) {
      this.note.textContent = 'A picture needs two dimensions, one down and one across.';
      return;
    }
    void this.load();
    if (!this.busy) this.draw(); // else once what is missing has come
    else if (this.columns.size === 0) this.note.textContent = 'Reading pictures …';
  }

  csv(): (string | number)[][] {
    const columns = this.inSight();
    return [['row', 'step', 'low', 'high', 'nan', 'infinite'],
      ...columns.flatMap((of) => Array.from({ length: of.rows }, (_, row) => [this.firstRow() + row, of.step, of.low[row]!, of.high[row]!, of.nan[row]!, of.inf[row]!]))];
  }

  async svg(): Promise<Blob | undefined> {
    return svgOfPng(await this.png(), this.stage.clientWidth, this.stage.clientHeight, `Pictures of ${this.look!.info.name}`);
  }

  png(): Promise<Blob | undefined> {
    return this.picture.png(2);
  }

  destroy(): void {
    this.asking.abort();
    this.picture.destroy();
  }

  // --- requests

  private firstRow(): number {
    const rows = this.axes.over === null ? 1 : this.shape[this.axes.over]!;
    const asked = Number(this.look?.params['row'] ?? 0);
    return Number.isInteger(asked) ? Math.max(0, Math.min(asked, rows - 1)) : 0;
  }

  private pool(): 'mean' | 'max' {
    return this.look?.params['pool'] === 'max' ? 'max' : 'mean';
  }

  private scaleChoice(): ScaleChoice {
    const asked = this.look?.params['scale'];
    return asked === 'picture' || asked === 'strip' ? asked : 'shared';
  }

  private palette(): Palette {
    return PALETTES.find((name) => name === this.look?.params['palette']) ?? 'gray';
  }

  /** The steps that have a column: up to the cursor, the newest at the right end; each n-th when there are many. */
  private steps(): number[] {
    const ranges = new StepRanges(this.look!.info.forms.value ?? []);
    const cursor = stepOf(this.look!, 'value');
    const all = cursor === null ? 0 : ranges.rank(cursor);
    if (this.look!.params['span'] !== 'all') {
      return Array.from({ length: Math.min(all, MOST_COLUMNS) }, (_, i) => ranges.at(all - Math.min(all, MOST_COLUMNS) + i)!);
    }
    const columns = Math.min(all, MOST_COLUMNS);
    return [...new Set(Array.from({ length: columns }, (_, i) => ranges.at(columns === 1 ? 0 : Math.round((i * (all - 1)) / (columns - 1)))!))];
  }

  private async load(): Promise<void> {
    const missing = this.steps().filter((step) => !this.columns.has(step) && !this.failedSteps.has(step));
    if (missing.length === 0 || this.busy) return;
    this.busy = true;
    const signal = this.asking.signal;
    const first = this.firstRow();
    const rows = this.axes.over === null ? 1 : this.shape[this.axes.over]!;
    const { slice, axes } = sliceOf(this.shape, this.axes, { over: [first, Math.min(first + ROWS, rows)] });
    try {
      const arrays = await this.owner.api.pictures(this.look!.info.id,
        { steps: missing.join(','), slice, axes, size: 64, pool: this.pool(), worker: this.look!.params['worker'] }, signal);
      if (signal.aborted) return;
      const [count, of, height, width] = arrays.get('pixels').shape as [number, number, number, number];
      const pixels = arrays.u8('pixels');
      const each = height * width;
      arrays.f64('steps').forEach((step, c) => {
        const column = (name: string) => Float64Array.from({ length: count }, (_, row) => arrays.f64(name)[row * of + c]!);
        const own = new Uint8Array(count * each);
        for (let row = 0; row < count; ++row) own.set(pixels.subarray((row * of + c) * each, (row * of + c + 1) * each), row * each);
        this.columns.set(step, {
          step, rows: count, height, width, pixels: own, low: column('low'), high: column('high'), nan: column('nan'), inf: column('inf'),
          fullHeight: arrays.json<number>('full_height') ?? height, fullWidth: arrays.json<number>('full_width') ?? width,
        });
      });
      for (const step of arrays.json<number[]>('left_out') ?? []) this.failedSteps.add(step);
      if (this.failedSteps.size > 0) this.leftOut = arrays.metadata['why_left_out'] || this.leftOut;
    } catch (error) {
      if (signal.aborted) return;
      for (const step of missing) this.failedSteps.add(step);
      this.owner.failed(error);
    }
    this.busy = false;
    this.forgetUnseen();
    this.draw();
    void this.load();
  }

  /** A strip that follows a training would else grow for hours. */
  private forgetUnseen(): void {
    const seen = new Set(this.steps());
    for (const step of this.columns.keys()) {
      if (this.columns.size <= MOST_KEPT) break;
      if (!seen.has(step)) this.columns.delete(step);
    }
    for (const step of this.failedSteps) if (!seen.has(step)) this.failedSteps.delete(step);
    for (const key of this.exactParts.keys()) {
      if (this.exactParts.size <= MOST_EXACT) break;
      this.exactParts.delete(key);
    }
  }

  // --- controls

  /** As long as it says the same it stays: somebody may be in the midst of choosing. */
  private drawBar(): void {
    const of = JSON.stringify([this.shape, this.axes, this.look!.params]);
    if (of === this.barOf) return;
    this.barOf = of;
    keepingFocus(this.bar, () => replace(this.bar, axesBar(this.shape, this.axes, true, (words) => this.owner.context.change({ ...words, row: undefined })), this.controls()));
  }

  private controls(): HTMLElement {
    const change = this.owner.context.change.bind(this.owner.context);
    const choice = <T extends string>(title: string, word: string, options: readonly (readonly [T, string])[], now: T) => {
      const select = h('select', { 'data-choice': word, onchange: () => change({ [word]: select.value }) },
        ...options.map(([value, text]) => h('option', { value, selected: value === now }, text)));
      return h('label', {}, title, select);
    };
    const rows = this.axes.over === null ? 1 : this.shape[this.axes.over]!;
    const first = this.firstRow();
    const turn = (to: number, text: string, name: string) => h('button', { type: 'button', disabled: to < 0 || to >= rows, 'aria-label': name, onclick: () => change({ row: String(to) }) }, text);
    const pages = rows <= ROWS ? null : h('span', { class: 'tn-buttons' }, turn(first - ROWS, '◂', 'Rows before'), `rows ${first} to ${Math.min(first + ROWS, rows) - 1} of ${count(rows)}`, turn(first + ROWS, '▸', 'Rows after'));
    return h('div', { class: 'toolbar' },
      choice('Scale', 'scale', SCALES, this.scaleChoice()),
      choice('Colours', 'palette', PALETTES.map((name) => [name, name] as const), this.palette()),
      choice('Steps', 'span', [['last', `last ${MOST_COLUMNS}`], ['all', 'over all']], this.look!.params['span'] === 'all' ? 'all' : 'last'),
      choice('Large ones by', 'pool', [['mean', 'mean'], ['max', 'farthest from 0']], this.pool()), pages);
  }

  // --- drawing

  private inSight(): PictureColumn[] {
    return this.steps().flatMap((step) => this.columns.get(step) ?? []);
  }

  private side(columns: readonly PictureColumn[]): { zoom: number; wide: number; tall: number } {
    const of = columns[0]!;
    const zoom = Math.max(1, Math.floor(72 / Math.max(of.width, of.height)));
    return { zoom, wide: of.width * zoom + GAP, tall: of.height * zoom + GAP };
  }

  private draw(): void {
    const columns = this.inSight();
    if (columns.length === 0) {
      this.note.textContent = this.leftOut !== '' ? `No pictures: ${this.leftOut}` : this.busy ? 'Reading pictures …' : 'No value was kept of this tensor, only numbers about it.';
      return;
    }
    const { wide, tall } = this.side(columns);
    this.resize(LEFT + columns.length * wide, TOP + columns[0]!.rows * tall);
    this.picture.schedule();
    const all = rangeFor(columns, 0, 0, 'shared', false);
    const signed = this.palette() === 'signed' && this.scaleChoice() === 'shared' && all ? Math.max(Math.abs(all[0]), Math.abs(all[1])) : null;
    const scaleText = { shared: all ? `one scale: ${short(signed === null ? all[0] : -signed)} to ${short(signed ?? all[1])}` : 'nothing finite', strip: 'each row has a scale of its own', picture: 'each picture has a scale of its own' }[this.scaleChoice()];
    const nans = columns.reduce((sum, of) => sum + of.nan.reduce((a, b) => a + b, 0), 0);
    this.note.textContent = `${columns.length === 1 ? '1 step' : `${columns.length} steps`}; ${scaleText}${nans > 0 ? `; ${count(nans)} NaN, in magenta` : ''}${this.leftOut === '' ? '' : `; left out: ${this.leftOut}`}`;
    this.picture.describe(`${columns[0]!.rows} rows of pictures of ${this.look!.info.name} at ${columns.length} steps, ${columns[0]!.step} to ${columns.at(-1)!.step}; ${scaleText}`);
    if (!columns.some(({ step }) => step === this.at.step)) this.at = { row: 0, step: columns.at(-1)!.step, y: 0, x: 0 };
    this.read();
    this.drawTable(columns);
    this.owner.drawn(columns.at(-1)!.step);
  }

  private resize(width: number, height: number): void {
    const size = `${width} ${height}`;
    if (size === this.size) return; // to ask how far it is scrolled costs a layout of the page
    this.size = size;
    const atEnd = this.wide.scrollLeft + this.wide.clientWidth >= this.wide.scrollWidth - 2;
    this.stage.style.width = `${width}px`;
    this.stage.style.height = `${height}px`;
    if (atEnd) this.wide.scrollLeft = this.wide.scrollWidth; // the newest stay in sight
  }

  private paint({ context, width }: Frame): void {
    const columns = this.inSight();
    if (columns.length === 0) return;
    const theme = themeOf(this.stage);
    const { zoom, wide, tall } = this.side(columns);
    context.fillStyle = theme.ground;
    context.fillRect(0, 0, width, TOP + columns[0]!.rows * tall);
    context.imageSmoothingEnabled = false;
    context.font = '11px system-ui, sans-serif';
    const [scale, palette] = [this.scaleChoice(), this.palette()];
    const shared = scale === 'shared' ? rangeFor(columns, 0, 0, 'shared', palette === 'signed') : null;
    columns.forEach((of, c) => {
      const x = LEFT + c * wide;
      context.fillStyle = theme.text;
      context.textAlign = 'center';
      context.fillText(String(of.step), x + (wide - GAP) / 2, 12, wide);
      for (let row = 0; row < of.rows; ++row) {
        const y = TOP + row * tall;
        const range = scale === 'shared' ? shared : rangeFor(columns, row, c, scale, palette === 'signed');
        context.drawImage(this.small.of(of, row, range, palette), x, y, of.width * zoom, of.height * zoom);
        if (of.step === this.at.step && row === this.at.row) {
          context.strokeStyle = theme.accent;
          context.lineWidth = 2;
          context.strokeRect(x - 1, y - 1, of.width * zoom + 2, of.height * zoom + 2);
        }
      }
    });
    context.textAlign = 'right';
    context.fillStyle = theme.text;
    for (let row = 0; row < columns[0]!.rows; ++row) {
      if (this.axes.over !== null) context.fillText(String(this.firstRow() + row), LEFT - 8, TOP + row * tall + tall / 2);
    }
  }

  // --- reading numbers

  private point(event: PointerEvent): void {
    const columns = this.inSight();
    if (columns.length === 0) return;
    const box = this.stage.getBoundingClientRect();
    const { zoom, wide, tall } = this.side(columns);
    const [px, py] = [event.clientX - box.left - LEFT, event.clientY - box.top - TOP];
    const of = columns[Math.floor(px / wide)];
    const row = Math.floor(py / tall);
    if (!of || px < 0 || row < 0 || row >= of.rows) return;
    const x = Math.min(of.width - 1, Math.floor((px % wide) / zoom));
    const y = Math.min(of.height - 1, Math.floor((py % tall) / zoom));
    this.at = { row, step: of.step, y, x };
    this.read();
    this.picture.schedule();
  }

  private key(event: KeyboardEvent): void {
    const columns = this.inSight();
    const here = columns.findIndex(({ step }) => step === this.at.step);
    if (here < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const by: Record<string, [number, number]> = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const move = by[event.key];
    if (event.key === 'Enter') this.owner.context.change({ tab: 'values', at: this.indexOfRow().join(',') });
    else if (move) {
      const of = columns[Math.min(columns.length - 1, Math.max(0, here + move[1]))]!;
      this.at = { row: Math.min(of.rows - 1, Math.max(0, this.at.row + move[0])), step: of.step, y: this.at.y, x: this.at.x };
      this.read();
      this.picture.schedule();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private indexOfRow(): number[] {
    return this.axes.at.map((at, dimension) => (dimension === this.axes.over ? this.firstRow() + this.at.row : at));
  }

  private read(): void {
    const of = this.columns.get(this.at.step);
    if (!of) return;
    const { row, step, y, x } = this.at;
    const factor = Math.ceil(Math.max(of.fullHeight, of.fullWidth) / Math.max(of.height, of.width));
    const name = this.axes.over === null ? `Step ${step}` : `Row ${this.firstRow() + row}, step ${step}`;
    const limits = `${short(of.low[row]!)} to ${short(of.high[row]!)}${of.nan[row]! > 0 ? `, ${count(of.nan[row]!)} NaN` : ''}`;
    if (factor > 1) {
      this.readout.textContent = `${name}: ${limits}; [${y * factor}:${Math.min((y + 1) * factor, of.fullHeight)}, ${x * factor}:${Math.min((x + 1) * factor, of.fullWidth)}] together`;
      return;
    }
    const element = this.exactAt(row, step)?.text(y * of.fullWidth + x);
    this.readout.textContent = `${name}: ${limits}; [${y}, ${x}] = ${element ?? '…'}`;
  }

  /** The exact elements of one picture: requested when the pointer is on it. */
  private exactAt(row: number, step: number): Elements | null {
    const key = `${row} ${step}`;
    const known = this.exactParts.get(key);
    if (known) return known === 'asked' ? null : known;
    this.exactParts.set(key, 'asked');
    const signal = this.asking.signal;
    const { slice, axes } = sliceOf(this.shape, { ...this.axes, over: null, at: this.indexOfRow() }, {});
    this.owner.api.value(this.look!.info.id, step, slice, axes, this.look!.params['worker'], signal).then(
      (value) => {
        this.exactParts.set(key, new Elements(value.array, value.dtype));
        this.read();
      },
      (error: unknown) => {
        if (!signal.aborted) this.owner.failed(error);
      },
    );
    return null;
  }

  /** Filled while it is open: it has a row for each picture. */
  private drawTable(columns: readonly PictureColumn[]): void {
    const open = this.table.querySelector('details')?.open ?? false;
    const details = h('details', { open }, h('summary', {}, 'Limits of each picture, as a table'), open && this.tableOf(columns));
    details.addEventListener('toggle', () => {
      if (details.open && details.children.length === 1) details.append(this.tableOf(this.inSight()));
    });
    keepingFocus(this.table, () => replace(this.table, details));
  }

  private tableOf(columns: readonly PictureColumn[]): HTMLElement {
    const rows = columns.flatMap((of) => Array.from({ length: of.rows }, (_, row) =>
      h('tr', {}, h('th', { scope: 'row', class: 'number' }, of.step), h('td', { class: 'number' }, this.firstRow() + row), h('td', { class: 'number' }, exact(of.low[row]!)),
        h('td', { class: 'number' }, exact(of.high[row]!)), h('td', { class: 'number' }, of.nan[row]!))));
    const titles = ['step', 'row', 'Min', 'Max', 'NaN'];
    return h('div', { class: 'tn-wide', tabindex: '0', role: 'region', 'aria-label': 'Limits of each picture' },
      h('table', { class: 'table' }, h('thead', {}, h('tr', {}, ...titles.map((title) => h('th', { scope: 'col' }, title)))), h('tbody', {}, ...rows)));
  }
}
