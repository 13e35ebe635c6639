// ValueTable: thousands of rows, of which only those that can be seen are in the document.
import './value_table.css';

import { h, replace, type Child } from '../draw/dom';
import { keepingFocus } from '../draw/focus';
import { short } from '../draw/numbers';
import { sortedBy, type Value } from './value_rows';

export interface Column<Row> {
  /** The word of the link that sorts by it. */
  id: string;
  title: string;
  value(row: Row): Value;
  /** What is shown in place of the value. */
  cell?(row: Row): Child;
  /** In CSS pixels; the last column takes what is left. */
  width: number;
  number?: boolean;
  /** The largest first. */
  falls?: boolean;
}

export interface Order {
  by: string;
  turned: boolean;
}

/** Rows as the table has them. */
export function ordered<Row>(rows: readonly Row[], columns: readonly Column<Row>[], { by, turned }: Order): readonly Row[] {
  const column = columns.find(({ id }) => id === by);
  return column ? sortedBy(rows, (row) => column.value(row), turned !== (column.falls ?? false)) : rows;
}

const ROW = 36; // CSS pixels, as in value_table.css
const SPARE = 6;

export class ValueTable<Row> {
  readonly element: HTMLElement;
  private readonly columnList = h('colgroup');
  private readonly head = h('thead');
  private readonly body = h('tbody');
  private readonly table = h('table', {}, this.columnList, this.head, this.body);
  private rows: readonly Row[] = [];
  private columns: readonly Column<Row>[] = [];
  private drawn = '';
  private marked: string | undefined;

  /** `keyOf` names a row, for the attribute data-row. */
  constructor(
    label: string,
    private readonly keyOf: (row: Row) => string,
    private readonly sortBy: (order: Order) => void,
  ) {
    this.element = h('div', { class: 'value-table', role: 'region', 'aria-label': label, tabindex: 0 }, this.table);
    this.element.addEventListener('scroll', () => this.drawRows());
    if (typeof ResizeObserver !== 'undefined') new ResizeObserver(() => this.drawRows()).observe(this.element);
  }

  show(rows: readonly Row[], columns: readonly Column<Row>[], order: Order): void {
    this.columns = columns;
    this.rows = ordered(rows, columns, order);
    this.table.setAttribute('aria-rowcount', String(rows.length + 1));
    this.drawHead(order);
    this.drawn = '';
    this.drawRows();
  }

  /** This row stands out until another one does; undefined: none. */
  mark(key: string | undefined): void {
    this.marked = key;
    for (const row of this.body.querySelectorAll<HTMLElement>('tr[data-row]')) row.classList.toggle('marked', row.dataset['row'] === key);
  }

  /** Scrolls to a row and marks it. */
  reveal(key: string): void {
    const place = this.rows.findIndex((row) => this.keyOf(row) === key);
    if (place >= 0) this.element.scrollTop = Math.max(0, place * ROW - this.element.clientHeight / 3);
    this.drawRows();
    this.mark(key);
  }

  private drawHead(order: Order): void {
    const least = this.columns.reduce((sum, { width }) => sum + width, 0);
    this.table.style.minWidth = `${least}px`;
    replace(this.columnList, ...this.columns.map(({ width }, i) => {
      const column = h('col');
      if (i < this.columns.length - 1) column.style.width = `${width}px`;
      return column;
    }));
    keepingFocus(this.head, () => replace(this.head, h('tr', { 'aria-rowindex': 1 }, ...this.columns.map((column) => this.headCell(column, order)))));
  }

  private headCell(column: Column<Row>, order: Order): HTMLElement {
    const sorted = column.id === order.by;
    const falling = order.turned !== (column.falls ?? false);
    const turn = () => this.sortBy({ by: column.id, turned: sorted && !order.turned });
    return h('th', { scope: 'col', class: column.number ? 'number' : '', 'aria-sort': sorted ? (falling ? 'descending' : 'ascending') : undefined },
      h('button', { class: 'quiet', title: column.title, onclick: turn }, `${column.title}${sorted ? (falling ? ' ▾' : ' ▴') : ''}`));
  }

  private drawRows(): void {
    const height = this.element.clientHeight || 800;
    const from = Math.max(0, Math.min(Math.floor(this.element.scrollTop / ROW) - SPARE, this.rows.length - 1));
    const visible = this.rows.slice(from, from + Math.ceil(height / ROW) + 2 * SPARE);
    const place = `${from} ${visible.length}`;
    if (place === this.drawn) return;
    this.drawn = place;
    const below = this.rows.length - from - visible.length;
    keepingFocus(this.body, () => replace(this.body, this.space(from), ...visible.map((row, i) => this.rowOf(row, from + i)), this.space(below)));
  }

  private space(rows: number): HTMLElement | undefined {
    if (rows <= 0) return undefined;
    const cell = h('td', { colspan: this.columns.length, class: 'space' });
    cell.style.height = `${rows * ROW}px`;
    return h('tr', { 'aria-hidden': 'true' }, cell);
  }

  private rowOf(row: Row, place: number): HTMLElement {
    const key = this.keyOf(row);
    return h('tr', { 'aria-rowindex': place + 2, 'data-row': key, class: key === this.marked ? 'marked' : '' }, ...this.columns.map((column) => {
      const value = column.value(row);
      const cell = column.cell ? column.cell(row) : typeof value === 'number' ? short(value) : value;
      return h('td', { class: column.number || (!column.cell && typeof value === 'number') ? 'number' : '', title: column.cell ? undefined : textOf(value) }, cell);
    }));
  }
}

/** A number with all its digits. */
function textOf(value: Value): string | undefined {
  return value === undefined ? undefined : String(value);
}
