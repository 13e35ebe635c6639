import { expect, it } from 'vitest';

import { StepRanges } from '../data/step_ranges';
import { TimeLine } from './time_line';

it('maps steps to places and back', () => {
  const line = new TimeLine(0, 1000, 516);
  expect([line.x(0), line.x(1000), line.step(8), line.step(508), line.step(-50), line.step(9999)]).toEqual([8, 508, 0, 1000, 0, 1000]);
  expect(new TimeLine(5, 5, 100).x(5)).toBe(50);
});

it('draws at most one mark a pixel, and each lonely step', () => {
  const line = new TimeLine(0, 1_000_000, 516);
  const all = line.marks(new StepRanges([[0, 1, 1_000_001]]), 0, 4).match(/M/g) ?? [];
  expect(all.length).toBeLessThanOrEqual(502);
  expect(all.length).toBeGreaterThan(450);
  expect(line.marks(new StepRanges([[0, 1, 1], [500_000, 1, 1], [1_000_000, 1, 1]]), 2, 4)).toBe('M8 2v4M258 2v4M508 2v4');
});

it('finds the nearest step', () => {
  const line = new TimeLine(0, 100, 116);
  const steps = new StepRanges([[0, 40, 3]]);
  expect([line.nearest(steps, 8 + 19), line.nearest(steps, 8 + 21), line.nearest(steps, 500), line.nearest(new StepRanges([]), 5)]).toEqual([0, 40, 80, null]);
});
