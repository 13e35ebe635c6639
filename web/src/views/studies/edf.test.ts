import { expect, it } from 'vitest';

import { edfOf, edfStairs } from './edf';
import { comparedStudies } from './edf_part';

const shares = (values: number[]) => edfOf(values, (value) => value).map(({ value, share }) => [value, share]);

it('counts for each value those that are at most as large', () => {
  expect(shares([3, 1, 2, 4])).toEqual([[1, 0.25], [2, 0.5], [3, 0.75], [4, 1]]);
  expect(shares([])).toEqual([]);
});

it('counts equal ones together, and what is no number not at all', () => {
  expect(shares([2, NaN, 1, 2, Infinity, 5])).toEqual([[1, 0.25], [2, 0.75], [2, 0.75], [5, 1]]);
});

it('has stairs from nothing to all', () => {
  const steps = edfOf([1, 2, 2, 5], (value) => value);
  expect(edfStairs(steps, 1, 6)).toEqual([[1, 0], [1, 0.25], [2, 0.75], [5, 1], [6, 1]]);
});

it('is compared with the studies that a link names, once each and not with itself', () => {
  expect(comparedStudies(undefined, 'a')).toEqual([]);
  expect(comparedStudies('b,a,,b,c', 'a')).toEqual(['b', 'c']);
  expect(comparedStudies('1,2,3,4,5,6,7,8,9', 'a')).toHaveLength(7);
});
