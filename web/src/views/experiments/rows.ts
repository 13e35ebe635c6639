// Rows of the tables of experiments.
import { numberOf } from '../../draw/numbers';
import { measuredValues, type Value, type ValueRow } from '../value_rows';
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

export function componentOf(row: ComponentRow, nowMs: number): Component {
  const measured = measuredValues(Object.entries(row.parameters), Object.entries(row.metrics).map(([name, { last }]) => [name, numberOf(last)] as const));
  const pairs = [...measured].map(([name, value]) => `${name}=${value}`);
  const end = row.end_unix_ms ?? (row.status === 'InProgress' ? nowMs : undefined);
  return {
    row, measured,
    lastedMs: row.start_unix_ms === null || end === undefined ? undefined : end - row.start_unix_ms,
    values: new Map([...measured, ['status', row.status], ['trial', row.trials.join(' ')], ['name', row.name]]),
    text: [row.name, row.display_name, row.status, row.message, ...row.trials, ...pairs].join(' ').toLowerCase(),
  };
}
