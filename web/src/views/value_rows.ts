// Rows with named values (hyper-parameters, metrics): which are shown, in which order, with which columns.
import { compareTexts } from '../data/text';

export type Value = number | string | undefined;

export interface ValueRow {
  /** All that a word of the search may be in. */
  text: string;
  /** By the name that a search and a column have for it. NaN and undefined: it has none. */
  values: ReadonlyMap<string, Value>;
}

type Measured = readonly (readonly [name: string, value: Value])[];

/** Parameters with what was measured under them; a metric that is called like a parameter is "metric NAME". */
export function measuredValues(parameters: Measured, metrics: Measured): Map<string, Value> {
  const measured = new Map<string, Value>(parameters);
  for (const [name, value] of metrics) measured.set(measured.has(name) ? `metric ${name}` : name, value);
  return measured;
}

/** Numbers before texts; what is not there comes last, turned or not. */
export function compareValues(a: Value, b: Value, turned: boolean): number {
  const [first, second] = [rank(a), rank(b)];
  if (first !== second) return first === NOTHING || second === NOTHING ? first - second : (turned ? -1 : 1) * (first - second);
  if (first === NOTHING) return 0;
  const order = typeof a === 'number' && typeof b === 'number' ? a - b : compareTexts(String(a), String(b));
  return turned ? -order : order;
}

const NOTHING = 2;

function rank(value: Value): number {
  if (value === undefined || Number.isNaN(value)) return NOTHING;
  return typeof value === 'number' ? 0 : 1;
}

/** Sorted by this value; rows that are alike keep their order. */
export function sortedBy<Row>(rows: readonly Row[], value: (row: Row) => Value, turned: boolean): Row[] {
  return rows
    .map((row) => ({ row, value: value(row) }))
    .sort((a, b) => compareValues(a.value, b.value, turned))
    .map(({ row }) => row);
}

type Test = (row: ValueRow) => boolean;

const CONDITION = /^([^<>=!\s]+)(<=|>=|!=|=|<|>)(.+)$/;

/** "lr>=0.01", "state=failed": a condition on a value; any other word must be in the row's text. */
function testOf(word: string): Test {
  const found = CONDITION.exec(word);
  if (!found) return (row) => row.text.includes(word);
  const [, name = '', sign = '', wanted = ''] = found;
  return (row) => holds(valueOf(row, name), sign, wanted);
}

function valueOf(row: ValueRow, lowerName: string): Value {
  for (const [name, value] of row.values) if (name.toLowerCase() === lowerName) return value;
  return undefined;
}

function holds(value: Value, sign: string, wanted: string): boolean {
  if (value === undefined) return sign === '!=';
  if (sign === '=' || sign === '!=') return (String(value).toLowerCase() === wanted || value === Number(wanted)) === (sign === '=');
  const order = typeof value === 'number' && wanted.trim() !== '' ? value - Number(wanted) : String(value).toLowerCase().localeCompare(wanted, 'en', { numeric: true });
  if (Number.isNaN(order)) return false;
  if (sign === '<') return order < 0;
  if (sign === '<=') return order <= 0;
  return sign === '>' ? order > 0 : order >= 0;
}

/** Each word must hold. Capitals do not matter; a row's text is in small letters. */
export function searched<Row extends ValueRow>(rows: readonly Row[], search: string): Row[] {
  const tests = search.toLowerCase().split(/\s+/).filter((word) => word !== '').map(testOf);
  return tests.length === 0 ? [...rows] : rows.filter((row) => tests.every((test) => test(row)));
}

/** Names of values, the most telling first: those that differ from row to row, then those that many rows have. */
export function tellingNames(rows: readonly { values: ReadonlyMap<string, Value> }[]): string[] {
  const seen = new Map<string, { rows: number; first: Value; differs: boolean }>();
  for (const { values } of rows) {
    for (const [name, value] of values) {
      const known = seen.get(name);
      if (!known) seen.set(name, { rows: 1, first: value, differs: false });
      else {
        ++known.rows;
        known.differs ||= known.first !== value;
      }
    }
  }
  const order = ([a, x]: [string, { rows: number; differs: boolean }], [b, y]: [string, { rows: number; differs: boolean }]) =>
    Number(y.differs) - Number(x.differs) || y.rows - x.rows || a.localeCompare(b, 'en', { numeric: true });
  return [...seen].sort(order).map(([name]) => name);
}

/** The columns that the word `columns` of a link names, "lr,loss", or "none"; without it the first of `names`. */
export function chosenColumns(word: string | undefined, names: readonly string[], usual: number): string[] {
  if (word === undefined) return names.slice(0, usual);
  return word === 'none' ? [] : word.split(',').filter((name) => name !== '');
}
