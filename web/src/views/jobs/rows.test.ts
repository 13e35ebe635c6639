import { describe, expect, it } from 'vitest';

import { compareValues, searched } from '../value_rows';
import type { JobRow } from './api';
import { columnNames, jobOf } from './rows';

const rows: JobRow[] = [
  { name: 'a', secondary_status: 'Completed', hyperparameters: { lr: 0.1, epochs: 3 }, metrics: { loss: { last: 0.5, min: 0.2, max: 4 }, lr: { last: 7, min: 7, max: 7 } } },
  { name: 'b', secondary_status: 'Training', hyperparameters: { lr: 0.2, epochs: 3 }, metrics: { loss: { last: 'NaN', min: null, max: null } } },
  { name: 'c', error: 'damaged' },
];

describe('jobs with what they have measured', () => {
  const jobs = rows.map(jobOf);
  it('have the last value of a metric beside their hyper-parameters', () => {
    expect(jobs[0]!.values.get('loss')).toBe(0.5);
    expect(jobs[0]!.values.get('loss.max')).toBe(4);
    expect(jobs[0]!.values.get('lr')).toBe(0.1);
    expect(jobs[0]!.values.get('metric lr')).toBe(7);
    expect(jobs[1]!.values.get('loss')).toBeNaN();
    expect(jobs[1]!.values.get('loss.min')).toBeUndefined();
  });
  it('are found by them, and have no place among numbers without one', () => {
    expect(searched(jobs, 'loss<1 loss.max>3').map(({ row }) => row.name)).toEqual(['a']);
    expect(compareValues(jobs[1]!.values.get('loss'), jobs[0]!.values.get('loss'), true)).toBeGreaterThan(0);
  });
  it('offer columns, what differs first and bounds last', () => {
    const names = columnNames(jobs);
    expect(names.slice(0, 2).sort()).toEqual(['loss', 'lr']);
    expect(names.indexOf('loss.min')).toBeGreaterThan(names.indexOf('epochs'));
  });
});
