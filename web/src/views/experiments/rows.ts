// Rows of the tables of experiments.
import { numberOf } from '../../draw/numbers';
import type { Value, ValueRow } from '../value_rows';
import type { ComponentRow, ExperimentRow } from './api';

export interface Experiment extends ValueRow {
  row: ExperimentRow;
}

export function experimentOf(row: ExperimentRow): Experiment {
  return { row, text: `${row.name} ${row.display_name} ${row.description}`.toLowerCase(), values: new Map<string, Value>([['trials', row.trials], ['components', row.components]]) };
}

export interface Component extends ValueRow {
  row: ComponentRow;
  /** Parameters, and of each metric the last value. */
  measured: ReadonlyMap<string, Value>;
  lastedMs: number | undefined;
}

/** A metric that is called like a parameter is "metric NAME". */
export function componentOf(row: ComponentRow, nowMs: number): Component {
  const measured = new Map<string, Value>(Object.entries(row.parameters));
  for (const [name, { last }] of Object.entries(row.metrics)) measured.set(measured.has(name) ? `metric ${name}` : name, numberOf(last));
  const pairs = [...measured].map(([name, value]) => `${name}=${value}`);
  const end = row.end_unix_ms ?? (row.status === 'InProgress' ? nowMs : undefined);
  return {
    row, measured,
    lastedMs: row.start_unix_ms === null || end === undefined ? undefined : end - row.start_unix_ms,
    values: new Map([...measured, ['status', row.status], ['trial', row.trials.join(' ')], ['name', row.name]]),
    text: [row.name, row.display_name, row.status, row.message, ...row.trials, ...pairs].join(' ').toLowerCase(),
  };
}
