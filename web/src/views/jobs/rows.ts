// Rows of the list of jobs.
import { numberOf } from '../../draw/numbers';
import { tellingNames, type Value, type ValueRow } from '../value_rows';
import type { JobRow, MetricNumbers } from './api';
import { GROUPS } from './states';

export interface Job extends ValueRow {
  row: JobRow;
  state: string;
  /** Hyper-parameters, and of each metric the last value. */
  measured: ReadonlyMap<string, Value>;
  /** "loss.min", "loss.max". */
  bounds: ReadonlyMap<string, Value>;
}

/** A metric that is called like a hyper-parameter is "metric NAME". */
export function jobOf(row: JobRow): Job {
  const state = row.error === undefined ? (row.secondary_status ?? '') : 'unreadable';
  const parameters = Object.entries(row.hyperparameters ?? {});
  const measured = new Map<string, Value>(parameters);
  const bounds = new Map<string, Value>();
  for (const [name, numbers] of Object.entries(row.metrics ?? {})) addMetric(measured, bounds, name, numbers);
  const pairs = parameters.map(([name, value]) => `${name}=${value}`);
  const text = [row.name, state, row.status, row.message, row.error, row.experiment, ...pairs].join(' ').toLowerCase();
  const own: [string, Value][] = [['state', state], ['name', row.name], ['experiment', row.experiment ?? undefined]];
  return { row, state, measured, bounds, values: new Map([...bounds, ...measured, ...own]), text };
}

function addMetric(measured: Map<string, Value>, bounds: Map<string, Value>, metric: string, { last, min, max }: MetricNumbers): void {
  const name = measured.has(metric) ? `metric ${metric}` : metric;
  measured.set(name, numberOf(last));
  bounds.set(`${name}.min`, min ?? undefined);
  bounds.set(`${name}.max`, max ?? undefined);
}

/** What columns there may be, the most telling first; bounds of metrics behind all others. */
export function columnNames(jobs: readonly Job[]): string[] {
  return [...tellingNames(jobs.map(({ measured }) => ({ values: measured }))), ...tellingNames(jobs.map(({ bounds }) => ({ values: bounds })))];
}

/** How many are of each kind; kinds that no job is of are left out. */
export function groupCounts(jobs: readonly Job[]): { id: string; title: string; state: string; count: number }[] {
  return GROUPS.map(([id, title, states]) => ({ id, title, state: states[0]!, count: jobs.filter(({ state }) => states.includes(state)).length }))
    .filter(({ count }) => count > 0);
}

export function inGroup(jobs: readonly Job[], group: string | undefined): readonly Job[] {
  const states = GROUPS.find(([id]) => id === group)?.[2];
  return states ? jobs.filter(({ state }) => states.includes(state)) : jobs;
}
