// The rows of the list of runs: GET /runs, sorted and filtered.
import { numberOf } from '../draw/numbers';

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
  return row.error !== undefined ? 'unreadable' : (row.state ?? 'reading');
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

/** Each word must be in the name, the state, or a rule that fired. */
export function filtered(rows: readonly RunRow[], text: string): RunRow[] {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return [...rows];
  return rows.filter((row) => {
    const all = `${row.name} ${stateOf(row)} ${row.rules?.fired_names.join(' ') ?? ''}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
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
