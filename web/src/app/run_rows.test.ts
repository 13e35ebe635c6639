import { expect, it } from 'vitest';

import { filtered, ordered, sorted, sparkline, stateOf, valueColumns, valuedRuns, type RunRow } from './run_rows';

const rows: RunRow[] = [
  { id: '1', name: 'run-2', state: 'running', created_unix_ms: 5, steps: 10, loss: { tensor: 'loss', step: 9, value: 'NaN' }, rules: { count: 2, fired: 1, fired_names: ['VanishingGradient'] }, labels: { lr: '0.1', data: 'mnist' } },
  { id: '2', name: 'run-10', state: 'died', created_unix_ms: 7, steps: 3, loss: { tensor: 'loss', step: 2, value: 0.5 }, rules: { count: 2, fired: 0, fired_names: [] }, labels: { lr: '0.02' } },
  { id: '3', name: 'run-1', reading: true },
];
const names = (list: RunRow[]) => list.map((row) => row.name);

it('sorts names as people count, the newest first, and what is no number last', () => {
  expect(names(sorted(rows, 'name', false))).toEqual(['run-1', 'run-2', 'run-10']);
  expect(names(sorted(rows, 'created', false))).toEqual(['run-10', 'run-2', 'run-1']);
  expect(names(sorted(rows, 'created', true))).toEqual(['run-1', 'run-2', 'run-10']);
  expect(names(sorted(rows, 'loss', false))[0]).toBe('run-10');
  expect(names(sorted(rows, 'loss', true))[0]).toBe('run-10');
});

it('calls a run failed whose program did, though all was recorded', () => {
  expect(stateOf({ id: '4', name: 'a', state: 'completed', status: 'Failed' })).toBe('failed');
  expect(stateOf({ id: '4', name: 'a', state: 'completed', status: 'Completed' })).toBe('completed');
  expect(stateOf({ id: '4', name: 'a', state: 'died', status: 'Failed' })).toBe('died');
});

it('filters by name, state and rule', () => {
  expect(names(filtered(rows, 'VANISH'))).toEqual(['run-2']);
  expect(names(filtered(rows, 'run died'))).toEqual(['run-10']);
  expect(filtered(rows, ' ').length).toBe(3);
});

it('filters and sorts by labels and numbers', () => {
  expect(names(filtered(rows, 'lr<0.05'))).toEqual(['run-10']);
  expect(names(filtered(rows, 'data=MNIST steps>5'))).toEqual(['run-2']);
  expect(names(filtered(rows, 'mnist'))).toEqual(['run-2']);
  expect(names(ordered(rows, 'lr', false))).toEqual(['run-10', 'run-2', 'run-1']);
  expect(names(ordered(rows, 'lr', true))).toEqual(['run-2', 'run-10', 'run-1']);
  expect(names(ordered(rows, 'steps', false))).toEqual(['run-2', 'run-10', 'run-1']);
});

it('draws the course of a loss with its gaps', () => {
  expect(sparkline([1, 0, 'NaN', 1, 1], 40, 10)).toBe('M0.0 0.0L10.0 10.0M30.0 0.0L40.0 0.0');
  expect(sparkline([2, 2], 40, 10)).toBe('M0.0 10.0L40.0 10.0');
  expect(sparkline([], 40, 10)).toBe('');
});

it('has labels and what was measured as values, under names of their own', () => {
  const [first] = valuedRuns([{ ...rows[0]!, labels: { lr: '0.1', steps: 'many' } }]);
  expect([...first!.values]).toEqual([['lr', 0.1], ['steps', 'many'], ['metric steps', 10], ['loss', NaN]]);
  expect(valueColumns(['lr'], rows)).toEqual(['lr', 'steps', 'loss']);
  expect(valueColumns([], [{ ...rows[0]!, labels: { steps: 'many' } }])).toEqual(['metric steps', 'loss']);
  expect(valuedRuns([{ id: '9', name: 'broken', error: 'no run' }])).toEqual([]);
});
