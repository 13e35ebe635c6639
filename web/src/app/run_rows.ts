// The rows of the list of runs: GET /runs, sorted and filtered.
import { numberOf } from '../draw/numbers';
import { measuredValues, searched, sortedBy, type Value } from '../views/value_rows';

export interface RunRow {
  id: string;
  name: string;
  /** Not read yet: only id and name are there. */
  reading?: boolean;
  /** Why it cannot be read. */
  error?: string;
  state?: string;
  status?: string;
  recorder?: string;
  created_unix_ms?: number;
  last_unix_ms?: number;
  steps?: number;
  last_step?: number;
  loss?: { tensor: string; step: number; value: number | string } | null;
  /** The course of that loss, at most 40 numbers. */
  course?: (number | string)[];
  rules?: { count: number; fired: number; fired_names: string[] };
  labels?: Record<string, string>;
}

export interface RunsAnswer {
  folder: string;
  runs: RunRow[];
  /** How many are still being read. */
  reading: number;
}

export type SortKey = 'name' | 'state' | 'created' | 'last' | 'steps' | 'loss' | 'rules';

const KEYS: Record<SortKey, (row: RunRow) => number | string> = {
  name: (row) => row.name,
  state: (row) => stateOf(row),
  created: (row) => row.created_unix_ms ?? -1,
  last: (row) => row.last_unix_ms ?? -1,
  steps: (row) => row.steps ?? -1,
  loss: (row) => numberOf(row.loss?.value),
  rules: (row) => row.rules?.fired ?? -1,
};

export function stateOf(row: RunRow): string {
  if (row.error !== undefined) return 'unreadable';
  // The recording may be complete although the program failed.
  return row.state === 'completed' && row.status === 'Failed' ? 'failed' : (row.state ?? 'reading');
}

/** As numbers where they are some. */
export function labelsOf(row: RunRow): Map<string, Value> {
  return new Map(Object.entries(row.labels ?? {}).map(([name, text]) => [name, text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text]));
}

export interface ValuedRun {
  row: RunRow;
  /** Labels, and what was measured under them. */
  values: ReadonlyMap<string, Value>;
}

/** Of a run that cannot be read there is none. */
export function valuedRuns(rows: readonly RunRow[]): ValuedRun[] {
  return rows.filter(({ error }) => error === undefined)
    .map((row) => ({ row, values: measuredValues([...labelsOf(row)], [['steps', row.steps], ['loss', row.loss ? numberOf(row.loss.value) : undefined]]) }));
}

/** The columns that have values: labels, then what was measured under other names than theirs. */
export function valueColumns(labels: readonly string[], all: readonly RunRow[]): string[] {
  const isLabel = (name: string) => all.some((row) => row.labels?.[name] !== undefined);
  return [...labels, ...['steps', 'loss'].map((name) => (isLabel(name) ? `metric ${name}` : name))];
}

/** By a column, or by a label of this name: then the smallest first. */
export function ordered(rows: readonly RunRow[], by: string, turned: boolean): RunRow[] {
  if (by in KEYS) return sorted(rows, by as SortKey, turned);
  return sortedBy(sorted(rows, 'created', false), (row) => labelsOf(row).get(by), turned);
}

/** Numbers fall, texts rise, unless turned; NaN and what is not there come last; equal ones by name. */
export function sorted(rows: readonly RunRow[], key: SortKey, turned: boolean): RunRow[] {
  const sign = turned ? -1 : 1;
  const keyed = rows.map((row) => ({ row, value: KEYS[key](row) }));
  keyed.sort((a, b) => {
    if (typeof a.value === 'string' && typeof b.value === 'string') return sign * a.value.localeCompare(b.value, 'en', { numeric: true });
    const [x, y] = [Number(a.value), Number(b.value)];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return x === y ? a.row.name.localeCompare(b.row.name, 'en', { numeric: true }) : sign * (y - x);
  });
  return keyed.map(({ row }) => row);
}

/** Each word must be in the name, the state, a label or a rule that fired; "lr<0.1" is a condition on a value. */
export function filtered(rows: readonly RunRow[], text: string): RunRow[] {
  const found = rows.map((row) => {
    const labels = labelsOf(row);
    const own: [string, Value][] = [['state', stateOf(row)], ['steps', row.steps], ['loss', row.loss ? numberOf(row.loss.value) : undefined], ['fired', row.rules?.fired]];
    const words = `${row.name} ${stateOf(row)} ${row.rules?.fired_names.join(' ') ?? ''} ${Object.values(row.labels ?? {}).join(' ')}`;
    return { row, text: words.toLowerCase(), values: new Map([...own, ...labels]) };
  });
  return searched(found, text).map(({ row }) => row);
}

/** The course as an SVG path in a box; numbers that are none leave a gap. */
export function sparkline(course: readonly (number | string)[], width: number, height: number): string {
  const values = course.map(numberOf);
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return '';
  const low = Math.min(...finite);
  const span = Math.max(...finite) - low || 1;
  let pen = 'M';
  let path = '';
  values.forEach((value, i) => {
    if (!Number.isFinite(value)) {
      pen = 'M';
      return;
    }
    const x = values.length === 1 ? width / 2 : (i / (values.length - 1)) * width;
    path += `${pen}${x.toFixed(1)} ${(height - ((value - low) / span) * height).toFixed(1)}`;
    pen = 'L';
  });
  return path;
}
