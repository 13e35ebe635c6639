// Rows of the list of jobs.
import type { Value, ValueRow } from '../value_rows';
import type { JobRow } from './api';
import { GROUPS, hasEnded } from './states';

export interface Job extends ValueRow {
  row: JobRow;
  state: string;
  lastedMs: number | undefined;
}

export function jobOf(row: JobRow, nowMs: number): Job {
  const state = row.error === undefined ? (row.secondary_status ?? '') : 'unreadable';
  const values = new Map<string, Value>(Object.entries(row.hyperparameters ?? {}));
  const lasted = row.submitted_unix_ms === undefined ? undefined : (hasEnded(row) ? (row.changed_unix_ms ?? nowMs) : nowMs) - row.submitted_unix_ms;
  const pairs = [...values].map(([name, value]) => `${name}=${value}`);
  const text = [row.name, state, row.status, row.message, row.error, row.experiment, ...pairs].join(' ').toLowerCase();
  return { row, state, lastedMs: lasted, values: new Map([...values, ['state', state], ['name', row.name], ['experiment', row.experiment ?? undefined]]), text };
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
