import { describe, expect, it } from 'vitest';

import { gaussianWidth, surfaceOf, surfaceRange } from './surface';

const smooth = (cells: number) => ({ cells, apart: false });
const choices = (cells: number) => ({ cells, apart: true });

describe('a surface', () => {
  it('is the mean of the values around, weighted by a Gaussian', () => {
    const points = [{ x: 0.25, y: 0.5, value: 0 }, { x: 0.75, y: 0.5, value: 1 }];
    const { values, width } = surfaceOf(points, smooth(2), smooth(1));
    expect(width).toBeCloseTo(2 ** (-1 / 6) / Math.sqrt(12), 12);
    const far = Math.exp(-0.5 * (0.5 / width) ** 2); // the weight of the other point; its own is 1
    expect(values[0]).toBeCloseTo(far / (1 + far), 12);
    expect(values[1]).toBeCloseTo(1 / (1 + far), 12);
  });
  it('is empty where no value is near, and has no place without values', () => {
    const { values, width } = surfaceOf([{ x: 0.005, y: 0.5, value: 3 }], smooth(100), smooth(1));
    const known = [...values].filter((value) => !Number.isNaN(value)).length;
    expect(known).toBe(Math.floor(2 * width * 100) + 1); // two widths to the right, and its own cell
    expect(values[0]).toBeCloseTo(3, 12);
    expect(values[99]).toBeNaN();
    expect([...surfaceOf([], smooth(2), smooth(2)).values].every(Number.isNaN)).toBe(true);
  });
  it('keeps choices apart: each field is the mean of its own', () => {
    const at = (x: number, y: number, value: number) => ({ x, y, value });
    const { values, width } = surfaceOf([at(0.25, 0.5, 1), at(0.25, 0.5, 3), at(0.75, 5 / 6, 9)], choices(2), choices(3));
    expect(width).toBe(0);
    expect([...values]).toEqual([NaN, NaN, 2, NaN, NaN, 9]); // rows from below
  });
  it('smooths within a choice along the other axis', () => {
    const { values } = surfaceOf([{ x: 0.25, y: 0.25, value: 1 }, { x: 0.75, y: 0.25, value: 5 }], choices(2), smooth(2));
    expect([...values].slice(0, 2)).toEqual([1, 5]);
  });
  it('gets finer with more values, over fewer axes too', () => {
    expect(gaussianWidth(1, 2)).toBeCloseTo(0.2887, 4);
    expect(gaussianWidth(64, 2)).toBeCloseTo(0.2887 / 2, 4);
    expect(gaussianWidth(64, 1)).toBeLessThan(gaussianWidth(64, 2));
  });
  it('has a range of what is known', () => {
    expect(surfaceRange({ columns: 3, rows: 1, width: 0, values: Float64Array.of(NaN, 2, -1) })).toEqual([-1, 2]);
    expect(surfaceRange({ columns: 1, rows: 1, width: 0, values: Float64Array.of(NaN) })).toBeNull();
  });
});
