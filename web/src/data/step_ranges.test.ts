import { expect, it } from 'vitest';

import { StepRanges } from './step_ranges';

const steps = new StepRanges([[0, 10, 4], [35, 1, 1], [40, 100, 3]]); // 0 10 20 30 35 40 140 240

it('finds steps without listing them', () => {
  expect(steps.count).toBe(8);
  expect([steps.first, steps.last]).toEqual([0, 240]);
  expect(steps.at(5)).toBe(40);
  expect(steps.at(8)).toBeNull();
  expect(steps.atOrBefore(-1)).toBeNull();
  expect(steps.atOrBefore(34)).toBe(30);
  expect(steps.atOrBefore(139)).toBe(40);
  expect(steps.atOrBefore(1e9)).toBe(240);
  expect(steps.has(35)).toBe(true);
  expect(steps.has(36)).toBe(false);
  expect([...steps.list()]).toEqual([0, 10, 20, 30, 35, 40, 140, 240]);
});

it('moves from one to the next, also from between two', () => {
  expect(steps.moved(20, 1)).toBe(30);
  expect(steps.moved(25, 1)).toBe(30);
  expect(steps.moved(25, -1)).toBe(20);
  expect(steps.moved(20, -1)).toBe(10);
  expect(steps.moved(0, -10)).toBe(0);
  expect(steps.moved(200, 10)).toBe(240);
  expect(new StepRanges([]).moved(3, 1)).toBeNull();
});

it('folds a list into ranges', () => {
  for (const list of [[], [5], [5, 6], [0, 2, 4, 5, 6, 7, 100], [1, 3, 5, 8, 11]]) {
    expect([...StepRanges.of(list).list()]).toEqual(list);
  }
});
