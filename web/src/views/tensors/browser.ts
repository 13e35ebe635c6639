// Browser: all tensors of a run, as a tree with columns. Only the rows in sight are in the document.
import { h, replace } from '../../draw/dom';
import { drawerOf } from '../../draw/drawer';
import { count, short } from '../../draw/numbers';

import { recordsText, type TensorApi, type TensorList } from './api';
import { nameFilter } from './name_filter';
import { type Grouping, NameTree, type TreeRow } from './name_tree';
import { NumberFeed } from './number_feed';
import { sparkline } from './sparkline';

export interface BrowserState {
  search: string;
  grouping: Grouping;
  /** One of ORDERS. */
  order: string;
  /** Name of the tensor that is shown beside. */
  tensor?: string;
  step: number | null;
}

export interface BrowserOwner {
  choose(name: string): void;
  search(text: string): void;
  group(grouping: Grouping): void;
  order(order: string): void;
  failed(error: unknown): void;
}

export const ROW = 28;
const AROUND = 6; // rows above and below those in sight
const OPEN_AT_FIRST = 200; // tensors: a small tree is open, a large one closed

const GROUPINGS: [Grouping, string][] = [['path', 'By module'], ['collection', 'By collection'], ['flat', 'Flat']];
const MOST_SORTED = 2048; // tensors whose numbers are all requested, to sort by them

const COLUMNS = ['Name', 'Type', 'Shape', 'Steps', 'Mean', 'Std', 'NaN', 'Zero', 'Trend'] as const;

/** What a list can be sorted by, the largest first, and the column that shows it: it stays where others have no room. */
const ORDERS: [order: string, title: string, column: (typeof COLUMNS)[number]][] = [
  ['name', 'Name', 'Trend'], ['elements', 'Elements', 'Shape'], ['nan', 'NaN', 'NaN'], ['zero', 'Share of zeros', 'Zero'], ['std', 'Std', 'Std'],
  ['mean', 'Size of the mean', 'Mean'], ['change', 'Change of the mean', 'Trend'],
];

export class Browser {
  readonly element: HTMLElement;
  private readonly search = h('input', { type: 'search', placeholder: 'Name, *.weight or /regex/', 'aria-label': 'Search tensors', 'data-search': true });
  private readonly groupings: HTMLButtonElement[];
  private readonly summary = h('p', { class: 'muted tn-summary', role: 'status' });
  private readonly rowsBox = h('div', { class: 'tn-rows', role: 'presentation' });
  private readonly scroller: HTMLElement;
  private readonly feed: NumberFeed;
  private list: TensorList | null = null;
  private readonly orders: HTMLSelectElement;
  private state: BrowserState = { search: '', grouping: 'path', order: 'name', step: null };
  private readonly toggled = new Set<string>(); // groups that are not as they are at first
  private rows: TreeRow[] = [];
  private found: number[] = [];
  private treeOf = '';
  private tree: NameTree | null = null;
  private active = 0;
  private held = false; // a pointer is down on a row, which is not clicked if it is replaced before it is up
  private stale = false; // something came meanwhile

  constructor(
    api: TensorApi,
    private readonly owner: BrowserOwner,
  ) {
    this.feed = new NumberFeed(api, () => this.arrived(), (error) => owner.failed(error));
    this.groupings = GROUPINGS.map(([grouping, title]) =>
      h('button', { type: 'button', 'data-grouping': grouping, onclick: () => owner.group(grouping) }, title),
    );
    this.orders = h('select', { 'data-choice': 'order', onchange: () => owner.order(this.orders.value) }, ...ORDERS.map(([order, title]) => h('option', { value: order }, title)));
    this.search.addEventListener('input', () => owner.search(this.search.value));
    const head = h('div', { class: 'tn-row tn-head', role: 'row' }, ...COLUMNS.map((title, i) => h('span', { role: 'columnheader', class: columnClass(i), title: title === 'Trend' ? 'The mean over steps' : undefined }, title)));
    this.scroller = h('div', { class: 'tn-scroller', role: 'treegrid', tabindex: '0', 'aria-label': 'Tensors' }, head, this.rowsBox);
    this.scroller.addEventListener('scroll', () => this.draw(), { passive: true });
    this.scroller.addEventListener('keydown', (event) => this.key(event));
    this.rowsBox.addEventListener('pointerdown', () => this.hold());
    this.element = h('section', { class: 'tn-browser' },
      drawerOf('Search, grouping, order', h('div', { class: 'toolbar' }, this.search, h('div', { class: 'tn-buttons', role: 'group', 'aria-label': 'Grouping' }, ...this.groupings), h('label', {}, 'Sorted by', this.orders))),
      this.summary, this.scroller);
  }

  show(list: TensorList, state: BrowserState): void {
    const renewed = this.list !== list || this.state.step !== state.step;
    this.list = list;
    this.state = state;
    if (document.activeElement !== this.search) this.search.value = state.search;
    for (const button of this.groupings) button.setAttribute('aria-pressed', String(button.dataset['grouping'] === state.grouping));
    this.orders.value = state.order;
    const sorted = ORDERS.find(([order]) => order === state.order) ?? ORDERS[0]!;
    this.element.dataset['shows'] = String(COLUMNS.indexOf(sorted[2]));
    if (this.buildTree()) this.buildRows();
    if (renewed) this.renewNumbers(list, state.step);
    this.draw();
  }

  private renewNumbers(list: TensorList, step: number | null): void {
    const places = new Map(list.ids.map((id, place) => [id, place]));
    this.feed.renew(step, (id) => {
      const place = places.get(id);
      return place === undefined ? '' : `${recordsText(list, place)} ${Math.min(step ?? Infinity, list.last_steps[place]!)}`;
    });
  }

  /** The rows as a table, for a file. */
  table(): (string | number)[][] {
    const list = this.list;
    if (!list) return [];
    const head = ['name', 'dtype', 'shape', 'values', 'statistics', 'scalars', 'reductions', 'first_step', 'last_step'];
    return [head, ...this.found.map((i) => [
      list.names[i]!, list.dtypes[i] ?? '', list.shapes[i] ? `[${list.shapes[i]!.join(', ')}]` : '', list.values[i]!, list.statistics[i]!,
      list.scalars[i]!, list.reductions[i]!, list.first_steps[i]!, list.last_steps[i]!,
    ])];
  }

  destroy(): void {
    this.feed.close();
  }

  /** False when it is as before. */
  private buildTree(): boolean {
    const list = this.list!;
    const what = `${list.names.length} ${this.state.grouping} ${this.state.order} ${this.state.search}`;
    if (this.treeOf === what && this.tree) return false;
    if (what.slice(what.indexOf(' ')) !== this.treeOf.slice(this.treeOf.indexOf(' '))) this.scroller.scrollTop = 0; // else the first lie above what is seen
    this.treeOf = what;
    const filter = nameFilter(this.state.search);
    this.found = [];
    list.names.forEach((name, index) => {
      if (filter.finds(name)) this.found.push(index);
    });
    this.tree = new NameTree(list.names, this.found, this.state.order === 'name' ? this.state.grouping : 'flat', list.collections);
    this.active = 0;
    const all = list.names.length;
    const found = this.found.length === all ? `${count(all)} tensors` : `${count(this.found.length)} of ${count(all)} tensors`;
    this.summary.textContent = filter.fault ?? (this.needsNumbers() && !this.readsAll() ? `${found}; to sort by numbers, search for at most ${count(MOST_SORTED)}` : found);
    this.summary.classList.toggle('bad', filter.fault !== undefined);
    return true;
  }

  private arrived(): void {
    if (this.state.order !== 'name') this.buildRows();
    this.draw();
  }

  private sorted(rows: TreeRow[]): TreeRow[] {
    const place = (row: TreeRow) => this.sortNumber(row.tensor!);
    const known = rows.map((row) => [row, place(row)] as const);
    return known.sort((a, b) => (Number.isNaN(b[1]) ? -1 : b[1]) - (Number.isNaN(a[1]) ? -1 : a[1])).map(([row]) => row);
  }

  /** Never negative; NaN while it is not known. */
  private sortNumber(tensor: number): number {
    if (this.state.order === 'elements') return (this.list!.shapes[tensor] ?? [0]).reduce((a, b) => a * b, 1);
    const numbers = this.feed.get(this.list!.ids[tensor]!);
    if (!numbers || numbers.step === null) return NaN;
    switch (this.state.order) {
      case 'zero': return numbers.number('zero') / numbers.number('count');
      case 'mean': return Math.abs(numbers.number('mean'));
      case 'change': return changeOf(numbers.spark);
      default: return numbers.number(this.state.order);
    }
  }

  private needsNumbers(): boolean {
    return this.state.order !== 'name' && this.state.order !== 'elements';
  }

  private readsAll(): boolean {
    return this.found.length <= MOST_SORTED;
  }

  private buildRows(): void {
    const openAtFirst = this.state.search !== '' || this.found.length <= OPEN_AT_FIRST;
    const rows = this.tree!.rows((key) => openAtFirst !== this.toggled.has(key));
    this.rows = this.state.order === 'name' ? rows : this.sorted(rows);
    this.active = Math.min(this.active, Math.max(this.rows.length - 1, 0));
    this.rowsBox.style.height = `${this.rows.length * ROW}px`;
    this.scroller.setAttribute('aria-rowcount', String(this.rows.length + 1));
  }

  private hold(): void {
    this.held = true;
    const release = () => {
      removeEventListener('pointerup', release);
      removeEventListener('pointercancel', release);
      setTimeout(() => { // the click comes before
        this.held = false;
        if (this.stale) this.draw();
      });
    };
    addEventListener('pointerup', release);
    addEventListener('pointercancel', release);
  }

  private draw(): void {
    this.stale = this.held;
    if (this.held) return;
    const height = this.scroller.clientHeight || 600;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW) - AROUND);
    const last = Math.min(this.rows.length, first + Math.ceil(height / ROW) + 2 * AROUND);
    const shown: HTMLElement[] = [];
    const ids: string[] = [];
    for (let i = first; i < last; ++i) {
      const row = this.rows[i]!;
      if (row.tensor !== undefined) ids.push(this.list!.ids[row.tensor]!);
      shown.push(this.rowElement(row, i));
    }
    replace(this.rowsBox, ...shown);
    this.feed.want(this.needsNumbers() && this.readsAll() ? [...new Set([...ids, ...this.found.map((tensor) => this.list!.ids[tensor]!)])] : ids);
    if (shown.length > 0) this.scroller.setAttribute('aria-activedescendant', `tn-row-${this.active}`);
    else this.scroller.removeAttribute('aria-activedescendant');
  }

  private rowElement(row: TreeRow, index: number): HTMLElement {
    const element = row.tensor === undefined ? this.groupElement(row) : this.tensorElement(row, row.tensor);
    element.id = `tn-row-${index}`;
    element.setAttribute('role', 'row');
    element.setAttribute('aria-level', String(row.level + 1));
    element.setAttribute('aria-rowindex', String(index + 2));
    element.style.top = `${index * ROW}px`;
    if (index === this.active) element.classList.add('tn-active');
    element.addEventListener('click', () => {
      this.active = index;
      this.use(row);
    });
    return element;
  }

  private groupElement(row: TreeRow): HTMLElement {
    const name = h('span', { role: 'gridcell', class: 'tn-name' }, h('span', { class: 'tn-twist', 'aria-hidden': 'true' }, row.open ? '▾' : '▸'), row.label,
      h('span', { class: 'muted' }, ` ${count(row.count ?? 0)}`));
    name.style.paddingLeft = `${row.level * 14}px`;
    return h('div', { class: 'tn-row tn-group', 'aria-expanded': String(row.open === true) }, name);
  }

  private tensorElement(row: TreeRow, tensor: number): HTMLElement {
    const list = this.list!;
    const numbers = this.feed.get(list.ids[tensor]!);
    const known = (name: string) => (numbers && numbers.step !== null ? numbers.number(name) : NaN);
    const all = known('count');
    const nan = known('nan');
    const shape = list.shapes[tensor];
    const cells: (string | HTMLElement | SVGElement)[] = [
      list.dtypes[tensor] ?? '', shape ? `[${shape.join(', ')}]` : '', stepsText(list, tensor), number(known('mean')), number(known('std')),
      nan > 0 ? h('strong', { class: 'bad' }, count(nan)) : number(nan), all > 0 ? `${short((100 * known('zero')) / all, 3)} %` : '',
      numbers ? sparkline(numbers.sparkSteps, numbers.spark) : '',
    ];
    const name = h('span', { role: 'gridcell', class: 'tn-name', title: list.names[tensor] }, row.label);
    name.style.paddingLeft = `${row.level * 14 + 16}px`;
    return h('div', { class: 'tn-row', 'aria-selected': String(list.names[tensor] === this.state.tensor), 'data-tensor': list.names[tensor] }, name,
      ...cells.map((cell, i) => h('span', { role: 'gridcell', class: columnClass(i + 1) }, cell)));
  }

  private use(row: TreeRow): void {
    if (row.tensor !== undefined) {
      this.owner.choose(this.list!.names[row.tensor]!);
    } else {
      this.toggle(row);
    }
    this.draw();
  }

  private toggle(row: TreeRow): void {
    if (!this.toggled.delete(row.key!)) this.toggled.add(row.key!);
    this.buildRows();
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = this.rows[this.active];
    if (!row) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW) - 1);
    switch (event.key) {
      case 'ArrowDown': this.move(this.active + 1); break;
      case 'ArrowUp': this.move(this.active - 1); break;
      case 'PageDown': this.move(this.active + page); break;
      case 'PageUp': this.move(this.active - page); break;
      case 'Home': this.move(0); break;
      case 'End': this.move(this.rows.length - 1); break;
      case 'ArrowRight': if (row.tensor === undefined && !row.open) this.toggle(row); else this.move(this.active + 1); break;
      case 'ArrowLeft': if (row.tensor === undefined && row.open) this.toggle(row); else this.move(this.groupOf(this.active)); break;
      case 'Enter': case ' ': this.use(row); break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private groupOf(index: number): number {
    const level = this.rows[index]!.level;
    for (let i = index - 1; i >= 0; --i) if (this.rows[i]!.level < level) return i;
    return index;
  }

  private move(to: number): void {
    this.active = Math.min(this.rows.length - 1, Math.max(0, to));
    const top = this.active * ROW;
    const inSight = this.scroller.clientHeight - 2 * ROW; // less the head and one row
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    if (top > this.scroller.scrollTop + inSight) this.scroller.scrollTop = top - inSight;
    this.draw();
  }
}

/** From the first to the last of a sparkline, how far it has moved. */
function changeOf(spark: Float64Array): number {
  const finite = spark.filter((value) => Number.isFinite(value));
  return finite.length === 0 ? NaN : Math.abs(finite.at(-1)! - finite[0]!);
}

function columnClass(index: number): string {
  return `tn-cell tn-cell-${index}`;
}

function number(value: number): string {
  return Number.isNaN(value) ? '' : short(value);
}

function stepsText(list: TensorList, tensor: number): string {
  const records = Math.max(list.values[tensor]!, list.statistics[tensor]!, list.scalars[tensor]!, list.reductions[tensor]!);
  return records === 0 ? '' : `${count(records)}`;
}
