// ValueList: a table with its search and its choice of columns, all of which stand in the link: q, sort, turned, columns.
// Where its kind says so it also has its rows as parallel coordinates: axes, brush.
import { parseBrushes } from '../draw/brush';
import { h, replace, type Child } from '../draw/dom';
import { drawerOf } from '../draw/drawer';
import { count } from '../draw/numbers';
import { ColumnChoice } from './column_choice';
import { valueAxes, withinAxes } from './value_axes';
import { ValueParallel } from './value_parallel';
import { chosenColumns, searched, type ValueRow } from './value_rows';
import { ordered, ValueTable, type Column, type Order } from './value_table';
import type { PlaceContext } from './view';

export interface ListKind<Row> {
  /** Of the table, for those who cannot see it. */
  label: string;
  placeholder: string;
  keyOf(row: Row): string;
  first: readonly Column<Row>[];
  last: Column<Row>;
  /** The column that it is sorted by at first. */
  usualOrder: string;
  /** How many values are columns at first. */
  usualColumns: number;
  /** Has it a switch for parallel coordinates? */
  parallel?: boolean;
}

type Params = Readonly<Record<string, string>>;

export class ValueList<Row extends ValueRow> {
  private readonly search: HTMLInputElement;
  private readonly said = h('span', { class: 'muted', 'data-test': 'count' });
  private readonly choice: ColumnChoice;
  private readonly table: ValueTable<Row>;
  private readonly toggle: HTMLButtonElement;
  private readonly lines: ValueParallel<Row> | null;
  private isDrawn = false; // the lines, by the link
  private readonly none = h('div', { class: 'empty', hidden: true });

  /** Fills `element`; `title` and `more` stand in the bar above the table. */
  constructor(
    element: HTMLElement,
    private readonly context: PlaceContext,
    private readonly kind: ListKind<Row>,
    title: readonly Child[],
    ...more: Child[]
  ) {
    this.search = h('input', { type: 'search', 'data-search': '', placeholder: kind.placeholder, oninput: () => context.change({ q: this.search.value || undefined }) });
    this.choice = new ColumnChoice((word) => context.change({ columns: word }));
    this.table = new ValueTable(kind.label, kind.keyOf, ({ by, turned }) => context.change({ sort: by === kind.usualOrder ? undefined : by, turned: turned ? '1' : undefined }));
    this.table.element.hidden = true;
    this.toggle = h('button', { hidden: true, 'aria-pressed': 'false', onclick: () => context.change(this.isDrawn ? { axes: undefined, brush: undefined } : { axes: '1' }) }, 'Parallel coordinates');
    this.lines = kind.parallel ? this.parallel() : null;
    const controls = h('div', { class: 'toolbar' }, h('label', { class: 'search' }, 'Search ', this.search), ...more, this.choice.element, this.toggle);
    replace(element, h('div', { class: 'toolbar' }, ...title, drawerOf('Search, filters', controls), this.said), this.lines?.element, this.table.element, this.none);
  }

  /** `names` of values, the most telling first; `where` they lie, as "in FOLDER"; `nothing` is shown when there is no row at all. */
  show(rows: readonly Row[], all: number, names: readonly string[], params: Params, where: string, nothing: () => Child[]): void {
    const searchedFor = searched(rows, params['q'] ?? '');
    if (document.activeElement !== this.search) this.search.value = params['q'] ?? '';
    const chosen = chosenColumns(params['columns'], names, this.kind.usualColumns);
    this.choice.show(names, chosen);
    const columns = [...this.kind.first, ...chosen.map((name) => valueColumn(name, rows)), this.kind.last];
    const order = { by: params['sort'] ?? this.kind.usualOrder, turned: params['turned'] === '1' };
    const found = this.showLines(searchedFor, chosen, columns, order, params);
    replace(this.said, `${found.length === all ? '' : `${count(found.length)} of `}${count(all)} ${where}`);
    this.table.show(found, columns, order);
    this.table.element.hidden = found.length === 0;
    this.none.hidden = found.length > 0;
    if (found.length === 0) replace(this.none, ...(all === 0 ? nothing() : this.noneFits()));
  }

  /** Gives the rows that its ranges leave in. */
  private showLines(rows: readonly Row[], names: readonly string[], columns: readonly Column<Row>[], order: Order, params: Params): readonly Row[] {
    if (!this.lines) return rows;
    this.isDrawn = params['axes'] === '1';
    this.toggle.hidden = !this.isDrawn && rows.length === 0;
    this.toggle.setAttribute('aria-pressed', String(this.isDrawn));
    this.lines.element.hidden = !this.isDrawn;
    if (!this.isDrawn) return rows;
    const brushes = parseBrushes(params['brush']);
    const axes = valueAxes(names, rows);
    this.lines.show(ordered(rows, columns, order), names, axes, brushes);
    return withinAxes(rows, axes, brushes);
  }

  private parallel(): ValueParallel<Row> {
    const lines = new ValueParallel<Row>(this.kind.keyOf, {
      brush: (brush) => this.context.change({ brush }), hover: (key) => this.table.mark(key), choose: (key) => this.table.reveal(key),
    });
    lines.element.hidden = true;
    this.table.element.addEventListener('pointerover', ({ target }) => lines.mark((target as Element).closest<HTMLElement>('tr[data-row]')?.dataset['row']));
    this.table.element.addEventListener('pointerleave', () => lines.mark(undefined));
    return lines;
  }

  private noneFits(): Child[] {
    return [h('h2', {}, 'Nothing fits'), h('button', { onclick: () => this.context.change({ q: undefined, state: undefined, ...(this.isDrawn && { brush: undefined }) }) }, 'Show all')];
  }
}

function valueColumn<Row extends ValueRow>(name: string, rows: readonly Row[]): Column<Row> {
  const first = rows.find(({ values }) => values.get(name) !== undefined);
  return { id: name, title: name, width: 104, number: typeof first?.values.get(name) === 'number', value: ({ values }) => values.get(name) };
}
