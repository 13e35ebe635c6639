import { expect, it } from 'vitest';

import { searched } from '../views/value_rows';
import { groupRows, orderedGroups, runGroupKeys } from './group_rows';
import { axisNames, columnNames, lossIsLost, ordered, sorted, sparkline, stateOf, valuedRuns, type RunRow, type ValuedRun } from './run_rows';

const rows: RunRow[] = [
  { id: '1', name: 'run-2', state: 'running', created_unix_ms: 5, steps: 10, loss: { tensor: 'loss', step: 9, value: 'NaN' }, rules: { count: 2, fired: 1, fired_names: ['VanishingGradient'] }, labels: { lr: '0.1', data: 'mnist' } },
  { id: '2', name: 'run-10', state: 'died', created_unix_ms: 7, steps: 3, loss: { tensor: 'loss', step: 2, value: 0.5 }, rules: { count: 2, fired: 0, fired_names: [] }, labels: { lr: '0.02' } },
  { id: '3', name: 'run-1', reading: true },
];
const all = valuedRuns(rows);
const names = (list: readonly ValuedRun[]) => list.map(({ row }) => row.name);

it('sorts names as people count, the newest first, and what is no number last', () => {
  expect(names(sorted(all, 'name', false))).toEqual(['run-1', 'run-2', 'run-10']);
  expect(names(sorted(all, 'created', false))).toEqual(['run-10', 'run-2', 'run-1']);
  expect(names(sorted(all, 'created', true))).toEqual(['run-1', 'run-2', 'run-10']);
  expect(names(sorted(all, 'loss', false))[0]).toBe('run-10');
  expect(names(sorted(all, 'loss', true))[0]).toBe('run-10');
});

it('calls a run failed whose program did, though all was recorded', () => {
  expect(stateOf({ id: '4', name: 'a', state: 'completed', status: 'Failed' })).toBe('failed');
  expect(stateOf({ id: '4', name: 'a', state: 'completed', status: 'Completed' })).toBe('completed');
  expect(stateOf({ id: '4', name: 'a', state: 'died', status: 'Failed' })).toBe('died');
});

it('filters by name, state and rule', () => {
  expect(names(searched(all, 'VANISH'))).toEqual(['run-2']);
  expect(names(searched(all, 'run died'))).toEqual(['run-10']);
  expect(searched(all, ' ').length).toBe(3);
});

it('filters and sorts by labels and numbers', () => {
  expect(names(searched(all, 'lr<0.05'))).toEqual(['run-10']);
  expect(names(searched(all, 'data=MNIST steps>5'))).toEqual(['run-2']);
  expect(names(searched(all, 'mnist'))).toEqual(['run-2']);
  expect(names(ordered(all, 'lr', false))).toEqual(['run-10', 'run-2', 'run-1']);
  expect(names(ordered(all, 'lr', true))).toEqual(['run-2', 'run-10', 'run-1']);
  expect(names(ordered(all, 'steps', false))).toEqual(['run-2', 'run-10', 'run-1']);
});

it('draws the course of a loss with its gaps', () => {
  expect(sparkline([1, 0, 'NaN', 1, 1], 40, 10)).toBe('M0.0 0.0L10.0 10.0M30.0 0.0L40.0 0.0');
  expect(sparkline([2, 2], 40, 10)).toBe('M0.0 10.0L40.0 10.0');
  expect(sparkline([], 40, 10)).toBe('');
});

it('has labels and what was measured as values, under names of their own', () => {
  const [first] = valuedRuns([{ ...rows[0]!, labels: { lr: '0.1', steps: 'many' } }]);
  expect([...first!.values]).toEqual([['state', 'running'], ['fired', 1], ['lr', 0.1], ['steps', 'many'], ['metric steps', 10], ['loss', NaN]]);
  expect(axisNames(['lr'], rows)).toEqual(['lr', 'steps', 'loss']);
  expect(axisNames([], [{ ...rows[0]!, labels: { steps: 'many' } }])).toEqual(['metric steps', 'loss']);
});

const tuned: RunRow[] = [['cnn-1', '0.1', 1], ['cnn-2', '0.1', 3], ['mlp-1', '0.01', 'NaN'], ['mlp-2', '0.01', 5]].map(([name, lr, accuracy], i) => (
  { id: String(i), name: String(name), state: 'completed', created_unix_ms: i, labels: { lr: String(lr), data: 'mnist' }, metrics: { accuracy: accuracy!, loss: 1, lr: 7 } }));

it('has labels and metrics as columns, those that tell runs apart first', () => {
  expect(columnNames(tuned)).toEqual({ names: ['lr', 'data', 'accuracy', 'metric lr'], usual: 4 });
  expect(names(ordered(valuedRuns(tuned), 'accuracy', true))).toEqual(['mlp-2', 'cnn-2', 'cnn-1', 'mlp-1']);
  expect(names(searched(valuedRuns(tuned), 'accuracy>=3'))).toEqual(['cnn-2', 'mlp-2']);
});

it('groups runs, with the mean and the spread of what is finite, and says what is not', () => {
  const runs = valuedRuns(tuned);
  expect(runGroupKeys(runs).map(({ word }) => word)).toEqual(['label:lr', 'part:1', 'part:2']);
  const groups = groupRows(runs, 'label:lr', ['accuracy', 'data'])!;
  expect(groups.map(({ name, runs: { length }, states }) => [name, length, states])).toEqual([['lr 0.01', 2, '2 completed'], ['lr 0.1', 2, '2 completed']]);
  expect(groups[1]!.cells.get('accuracy')).toEqual({ mean: 2, deviation: Math.SQRT2, min: 1, max: 3, count: 2, notFinite: 0 });
  expect(groups[0]!.cells.get('accuracy')).toEqual({ mean: 5, min: 5, max: 5, count: 1, notFinite: 1 });
  expect(groups[0]!.cells.get('data')).toMatchObject({ text: 'mnist' });
  expect(orderedGroups(groups, 'accuracy', false).map(({ name }) => name)).toEqual(['lr 0.1', 'lr 0.01']);
  expect(orderedGroups(groups, 'nothing', true)).toEqual(groups);
  expect(groupRows(runs, 'label:data', [])).toHaveLength(1);
  expect(groupRows(runs, 'label:nobody', [])).toBeNull();
});

it('does not take a loss that is no number for a good end', () => {
  expect(lossIsLost(rows[0]!)).toBe(true);
  expect(lossIsLost(rows[1]!)).toBe(false);
  expect(lossIsLost({ ...rows[1]!, metrics: { 'train_loss (train)': 'NaN', accuracy: 'NaN' } })).toBe(true);
  expect(lossIsLost({ ...rows[1]!, metrics: { accuracy: 'NaN' } })).toBe(false);
});
