import { describe, expect, it } from 'vitest';

import { choiceScale, integerScale, linearScale, logScale, scaleOf } from './scales';

const texts = (scale: { ticks(about: number): { text: string }[] }, about = 5) => scale.ticks(about).map(({ text }) => text);

describe('scales', () => {
  it('put numbers evenly, with round ticks', () => {
    const scale = linearScale(0, 10);
    expect(scale.place(2.5)).toBe(0.25);
    expect(scale.value(0.25)).toBe(2.5);
    expect(texts(scale)).toEqual(['0', '2', '4', '6', '8', '10']);
    expect(linearScale(3, 3).place(3)).toBe(0.5);
    expect(linearScale(0, 0).place(0)).toBe(0.5);
  });
  it('write large numbers shortly, and nothing between whole ones', () => {
    expect(texts(linearScale(0, 1e9))).toEqual(['0', '2e8', '4e8', '6e8', '8e8', '1e9']);
    expect(linearScale(0, 1).text(-2_500_000)).toBe('−2.5e6');
    expect(texts(integerScale(1, 3), 10)).toEqual(['1', '2', '3']);
    expect(texts(integerScale(7, 7))).toEqual(['7']);
    expect(integerScale(7, 7).place(7)).toBe(0.5);
  });
  it('put numbers by their logarithm, and what has none nowhere', () => {
    const scale = logScale(1e-5, 1e-1);
    expect(scale.place(1e-3)).toBeCloseTo(0.5);
    expect(scale.value(0.5)).toBeCloseTo(1e-3);
    expect(scale.place(0)).toBeNaN();
    expect(texts(scale)).toEqual(['1e-5', '0.0001', '0.001', '0.01', '0.1']);
    expect(texts(logScale(2, 30))).toEqual(['2', '5', '10', '20']);
    expect(texts(logScale(0.03, 0.04))).toEqual(['0.03']);
  });
  it('give each choice a part', () => {
    const scale = choiceScale(['adam', 'sgd']);
    expect(scale.place(0)).toBe(0.25);
    expect(Math.round(scale.value(0.7))).toBe(1);
    expect(texts(scale)).toEqual(['adam', 'sgd']);
    expect(texts(choiceScale(Array.from({ length: 100 }, (_, i) => String(i))), 10)).toHaveLength(10);
  });
  it('follow the values that there are', () => {
    expect(scaleOf([NaN, 1, 3, Infinity]).place(2)).toBe(0.5);
    expect(scaleOf([]).place(0.5)).toBe(0.5);
    expect(scaleOf([1, 100], true).place(10)).toBeCloseTo(0.5);
    expect(scaleOf([-1, 1], true).place(0)).toBe(0.5);
  });
});
