// The rows of the list of runs: GET /runs, sorted and filtered.
import { compareTexts } from '../data/text';
import { numberOf } from '../draw/numbers';
import { measuredValues, sortedBy, tellingNames, type Value, type ValueRow } from '../views/value_rows';

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
  /** `diagnosis`: what is wrong, in a sentence. */
  rules?: { count: number; fired: number; fired_names: string[]; diagnosis?: string };
  labels?: Record<string, string>;
  /** The last of each number that it measured of itself. */
  metrics?: Record<string, number | string>;
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

export const SORT_KEYS: readonly string[] = Object.keys(KEYS);

export function stateOf(row: RunRow): string {
  if (row.error !== undefined) return 'unreadable';
  // The recording may be complete although the program failed.
  return row.state === 'completed' && row.status === 'Failed' ? 'failed' : (row.state ?? 'reading');
}

/** Is the loss that it has ended with, or stands at, no finite number? */
export function lossIsLost({ loss, metrics }: RunRow): boolean {
  const losses = [loss?.value, ...Object.entries(metrics ?? {}).filter(([name]) => /loss/i.test(name)).map(([, value]) => value)];
  return losses.some((value) => value !== undefined && value !== null && !Number.isFinite(numberOf(value)));
}

/** As numbers where they are some. */
function labelsOf(row: RunRow): [name: string, value: Value][] {
  return Object.entries(row.labels ?? {}).map(([name, text]) => [name, text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text]);
}

function metricsOf(row: RunRow): [name: string, value: Value][] {
  return Object.entries(row.metrics ?? {}).map(([name, value]) => [name, numberOf(value)]);
}

export interface ValuedRun extends ValueRow {
  row: RunRow;
  /** Labels, and what was measured under them. */
  values: ReadonlyMap<string, Value>;
}

const OF_EACH: readonly string[] = ['steps', 'loss', 'state', 'fired']; // columns of their own, or nobody's to choose

/** Made once of each answer: sorting and searching a thousand rows then take no new values. */
export function valuedRuns(rows: readonly RunRow[]): ValuedRun[] {
  return rows.map((row) => {
    const own: [string, Value][] = row.error !== undefined ? [] : [['steps', row.steps], ['loss', row.loss ? numberOf(row.loss.value) : undefined]];
    const measured = measuredValues(labelsOf(row), [...own, ...metricsOf(row).filter(([name]) => name !== 'loss' && name !== 'steps')]);
    const values = new Map([['state', stateOf(row)], ['fired', row.rules?.fired], ...measured] as const);
    const words = `${row.name} ${stateOf(row)} ${row.rules?.fired_names.join(' ') ?? ''} ${row.rules?.diagnosis ?? ''} ${Object.values(row.labels ?? {}).join(' ')}`;
    return { row, text: words.toLowerCase(), values };
  });
}

const USUAL_LABELS = 3;
const USUAL_METRICS = 2;

/** What can be chosen as columns, and how many of it are columns at first: labels that tell runs apart, then metrics. */
export function columnNames(rows: readonly RunRow[]): { names: string[]; usual: number } {
  const telling = (pairsOf: (row: RunRow) => [string, Value][]) => tellingNames(rows.map((row) => ({ values: new Map(pairsOf(row)) })));
  const labels = telling(labelsOf);
  const metrics = telling(metricsOf).filter((name) => !OF_EACH.includes(name)).map((name) => (labels.includes(name) ? `metric ${name}` : name));
  const first = [...labels.slice(0, USUAL_LABELS), ...metrics.slice(0, USUAL_METRICS)];
  return { names: [...first, ...[...labels, ...metrics].filter((name) => !first.includes(name))], usual: first.length };
}

/** With what each run has: steps and loss, under other names where labels are called like them. */
export function axisNames(columns: readonly string[], rows: readonly RunRow[]): string[] {
  const isLabel = (name: string) => rows.some((row) => row.labels?.[name] !== undefined);
  return [...columns, ...['steps', 'loss'].map((name) => (isLabel(name) ? `metric ${name}` : name))];
}

/** By a column, or by a value of this name: then the smallest first. */
export function ordered(rows: readonly ValuedRun[], by: string, turned: boolean): ValuedRun[] {
  if (by in KEYS) return sorted(rows, by as SortKey, turned);
  return sortedBy(sorted(rows, 'created', false), ({ values }) => values.get(by), turned);
}

/** Numbers fall, texts rise, unless turned; NaN and what is not there come last; equal ones by name. */
export function sorted(runs: readonly ValuedRun[], key: SortKey, turned: boolean): ValuedRun[] {
  const sign = turned ? -1 : 1;
  const keyed = runs.map((run) => ({ run, value: KEYS[key](run.row) }));
  keyed.sort((a, b) => {
    if (typeof a.value === 'string' && typeof b.value === 'string') return sign * compareTexts(a.value, b.value);
    const [x, y] = [Number(a.value), Number(b.value)];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return x === y ? compareTexts(a.run.row.name, b.run.row.name) : sign * (y - x);
  });
  return keyed.map(({ run }) => run);
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
