// Finer columns: when they are asked for, and that no step is lost or counted twice where they are put in.
import { describe, expect, it, vi } from 'vitest';

import type { LayerMap, LayerQuestion } from './api';
import { FinerColumns, spliced, stretchToRefine, type StretchQuestion } from './finer_columns';

/** Two layers whose numbers are the step and its negative, in columns that begin at `starts`; the last one ends before `end`. */
function mapOf(starts: number[], end: number): LayerMap {
  const lasts = [...starts.slice(1), end].map((start) => start - 1);
  const numbers = Float64Array.from(lasts);
  return {
    about: { quantity: 'norm', collection: 'gradients', worker: 'rank-00000', workers: ['rank-00000'], left_out: 0, steps: end - starts[0]!, left: 0, unreadable: 0 },
    kept: [], layers: [{ id: '0', name: 'a' }, { id: '1', name: 'b' }],
    firstStep: Float64Array.from(starts), lastStep: numbers, steps: numbers.map((last, i) => last + 1 - starts[i]!), read: numbers,
    max: Float64Array.from([...lasts, ...lasts.map((last) => -last)]), maxStep: Float64Array.from([...lasts, ...lasts]),
    odd: new Map([[1, { nan: 1, inf: 0, step: starts[1]! }], [2 * starts.length - 1, { nan: 0, inf: 1, step: lasts.at(-1)! }]]),
  };
}

const coarse = mapOf([0, 10, 20, 30, 40, 50, 60, 70], 80);
const fine = mapOf(Array.from({ length: 20 }, (_, i) => 20 + i), 40);

describe('a stretch', () => {
  it('is what is seen and half as much on either side, in whole columns', () => {
    expect(stretchToRefine(coarse, { from: 20, to: 39 })).toEqual({ from: 10, to: 49 });
    expect(stretchToRefine(coarse, { from: 0, to: 5 })).toEqual({ from: 0, to: 19 });
  });
  it('is none of all steps, of most of them, or where each step has its column', () => {
    expect(stretchToRefine(coarse, { from: undefined, to: undefined })).toBeUndefined();
    expect(stretchToRefine(coarse, { from: 10, to: 59 })).toBeUndefined();
    expect(stretchToRefine(fine, { from: 24, to: 25 })).toBeUndefined();
  });
});

describe('a map with finer columns', () => {
  it('has each step once, layer by layer', () => {
    const joined = spliced(coarse, fine);
    expect([...joined.firstStep]).toEqual([0, 10, ...fine.firstStep, 40, 50, 60, 70]);
    expect(joined.steps.reduce((sum, steps) => sum + steps, 0)).toBe(80);
    expect([...joined.max]).toEqual([...joined.lastStep, ...joined.lastStep.map((last) => -last)]);
  });
  it('has what is not finite where it is', () => {
    const at = [...spliced(coarse, fine).odd].map(([cell, { step }]) => [Math.floor(cell / 26), cell % 26, step]);
    expect(at).toEqual([[0, 1, 10], [0, 3, 21], [1, 21, 39], [1, 25, 79]]);
  });
  it('is as it was where layers differ or a column is only partly replaced', () => {
    expect(spliced(coarse, { ...fine, layers: fine.layers.slice(1) })).toBe(coarse);
    expect(spliced(coarse, mapOf([25, 26], 40))).toBe(coarse);
  });
});

describe('finer columns', () => {
  const question: LayerQuestion = { quantity: 'norm', columns: 2048 };

  it('are asked for once, shown when they are there, and gone with the zoom', async () => {
    const ask = vi.fn((_question: StretchQuestion) => Promise.resolve(mapOf(Array.from({ length: 40 }, (_, i) => 10 + i), 50)));
    const changed = vi.fn();
    const finer = new FinerColumns(ask, changed);
    expect(finer.into(coarse, question, { from: 20, to: 39 })).toBe(coarse);
    await vi.waitFor(() => expect(changed).toHaveBeenCalled());
    const joined = finer.into(coarse, question, { from: 20, to: 39 });
    expect(joined.firstStep.length).toBe(1 + 40 + 3);
    expect(finer.into(coarse, question, { from: 20, to: 39 })).toBe(joined);
    expect(ask.mock.calls.map(([asked]) => asked)).toEqual([{ ...question, from: 10, to: 49 }]);
    expect(finer.into(coarse, question, { from: undefined, to: undefined })).toBe(coarse);
  });
  it('that cannot be had leave the map as it is', async () => {
    const changed = vi.fn();
    const finer = new FinerColumns(() => Promise.reject(new Error('a saved page')), changed);
    finer.into(coarse, question, { from: 20, to: 39 });
    await Promise.resolve();
    expect(finer.into(coarse, question, { from: 20, to: 39 })).toBe(coarse);
    expect(changed).not.toHaveBeenCalled();
  });
});
