import { expect, it } from 'vitest';

import { ALL_STEPS, held, moved, stretchOf, windowOf, zoomed } from './map_window';

/** Ten columns of ten steps each: 0 to 99. */
const map = {
  firstStep: Float64Array.from({ length: 10 }, (_, i) => 10 * i),
  lastStep: Float64Array.from({ length: 10 }, (_, i) => 10 * i + 9),
};
const all = windowOf(map, ALL_STEPS);

it('zooms around the place of the pointer, which stays, down to one column', () => {
  const half = zoomed(all, 0.5, 0.2);
  expect(half).toEqual({ start: 1, end: 6 });
  expect(half.start + 0.2 * (half.end - half.start)).toBe(2);
  expect(zoomed({ start: 3, end: 4 }, 0.5, 0.5)).toEqual({ start: 3, end: 4 });
});

it('stays on the columns', () => {
  expect(held({ start: -2, end: 3 }, 10)).toEqual({ start: 0, end: 5 });
  expect(held(moved({ start: 6, end: 10 }, 'forward'), 10)).toEqual({ start: 6, end: 10 });
  expect(held(moved({ start: 2, end: 9 }, 'out'), 10)).toEqual(all);
});

it('is a stretch of steps for the link: whole columns, open where nothing is cut off', () => {
  expect(stretchOf(map, { start: 2.4, end: 4 })).toEqual({ from: 20, to: 39 });
  expect(stretchOf(map, { start: 2.4, end: 9.9 })).toEqual({ from: 20, to: undefined });
  expect(stretchOf(map, all)).toEqual(ALL_STEPS);
  expect(stretchOf(map, { start: 7.1, end: 7.4 })).toEqual({ from: 70, to: 79 });
});

it('is the part of a map that holds the stretch of the link', () => {
  expect(windowOf(map, { from: 25, to: 44 })).toEqual({ start: 2, end: 5 });
  expect(windowOf(map, { from: 95, to: undefined })).toEqual({ start: 9, end: 10 });
  expect(windowOf(map, { from: 500, to: 600 })).toEqual(all); // nothing of it: all
});
