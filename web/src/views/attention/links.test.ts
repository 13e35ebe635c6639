import { describe, expect, it } from 'vitest';

import { Addresses } from './api';
import { FakeSource, SMALL } from './fake_source';
import { WIDEST_PX, chooseLinks, hiddenTokens, leastOfLargest, lookOfLinks, renormalisation, strokeOf } from './links';
import type { Selection } from './selection';
import { Weights } from './weights';

const all = { threshold: 0, top: 0, special: 'show' as const, between: 'all' as const };

async function weightsOf(heads = [0], first = 0, model = SMALL): Promise<Weights> {
  const request = new Addresses('r').head(1, heads, 20, 0, first);
  const arrays = await new FakeSource(model).arrays(request.path, request.parameters);
  return Weights.of(arrays, Array.from({ length: arrays.get('weights').shape[1]! }, (_, i) => i));
}

describe('chooseLinks', () => {
  it('gives every pair with its stored weight when nothing is filtered', async () => {
    const weights = await weightsOf([0, 2]);
    const links = chooseLinks(weights, all, []);
    expect(links.count).toBe(2 * 12 * 12);
    for (let i = 0; i < links.count; i++) {
      expect(links.weight[i]).toBe(weights.row(links.head[i]!, links.query[i]!)![links.key[i]!]);
    }
  });

  it('counts what the threshold leaves', async () => {
    const weights = await weightsOf();
    let expected = 0;
    for (let q = 0; q < 12; q++) for (const weight of weights.row(0, q)!) if (weight >= 0.1) expected++;
    expect(expected).toBeGreaterThan(0);
    expect(chooseLinks(weights, { ...all, threshold: 0.1 }, []).total).toBe(expected);
  });

  it('keeps the strongest of each query', async () => {
    const weights = await weightsOf();
    const links = chooseLinks(weights, { ...all, top: 3 }, []);
    expect(links.count).toBe(36);
    for (let i = 0; i < links.count; i++) {
      const row = [...weights.row(0, links.query[i]!)!].sort((a, b) => b - a);
      expect(links.weight[i]).toBeGreaterThanOrEqual(row[2]!);
    }
  });

  it('keeps the links of the focus alone, of either side', async () => {
    const weights = await weightsOf();
    const ofQuery = chooseLinks(weights, all, [{ side: 'query', index: 3 }]);
    expect([...ofQuery.query.subarray(0, ofQuery.count)]).toEqual(Array(12).fill(3));
    const ofBoth = chooseLinks(weights, all, [{ side: 'query', index: 3 }, { side: 'key', index: 5 }]);
    expect(ofBoth.count).toBe(23);
  });

  it('keeps the links from one sentence to another', async () => {
    const weights = await weightsOf(); // 8 tokens of A, 4 of B
    const pairs = (between: 'ab' | 'aa' | 'ba'): number => chooseLinks(weights, { ...all, between }, []).total;
    expect([pairs('aa'), pairs('ab'), pairs('ba')]).toEqual([64, 32, 32]);
    const links = chooseLinks(weights, { ...all, between: 'ab', top: 2 }, []);
    expect(links.total).toBe(16); // the two strongest of those that are left
    for (let i = 0; i < links.count; i++) expect([links.query[i]! < 8, links.key[i]! >= 8]).toEqual([true, true]);
  });

  it('gives no more weight to a sentence because the other is hidden', async () => {
    const weights = await weightsOf();
    const rules = { ...all, special: 'renormalise' as const };
    const heaviest = (between: 'all' | 'aa'): number => Math.max(...chooseLinks(weights, { ...rules, between }, [{ side: 'query', index: 1 }]).weight);
    expect(heaviest('aa')).toBeLessThanOrEqual(heaviest('all'));
  });

  it('draws no more than the limit and says how many there are', async () => {
    const weights = await weightsOf();
    const everything = chooseLinks(weights, all, []);
    const links = chooseLinks(weights, all, [], 10);
    expect([links.count, links.total]).toEqual([10, 144]);
    const sorted = [...everything.weight.subarray(0, 144)].sort((a, b) => b - a);
    expect(Math.min(...links.weight.subarray(0, 10))).toBe(sorted[9]);
  });

  it('finds the least of the largest as sorting does', () => {
    const values = Float32Array.from({ length: 5000 }, (_, i) => ((i * 7919) % 4999) ** 3 / 1e9);
    const sorted = values.slice().sort();
    for (const most of [1, 2, 100, 4999, 5000]) expect(leastOfLargest(values, most)).toBe(sorted[5000 - most]);
  });

  it('hides special tokens, and shares their weight among the others when asked to', async () => {
    const weights = await weightsOf();
    const links = chooseLinks(weights, { ...all, special: 'renormalise' }, [{ side: 'query', index: 1 }]);
    const keys = [...links.key.subarray(0, links.count)];
    expect(keys).toEqual([1, 2, 3, 4, 5, 6, 8, 9]);
    expect(links.weight.subarray(0, links.count).reduce((a, b) => a + b, 0)).toBeCloseTo(1, 5);
    const row = weights.row(0, 1)!;
    const factor = renormalisation(row, hiddenTokens(weights, 'renormalise'), 'renormalise');
    expect(links.weight[0]).toBeCloseTo(row[1]! * factor, 6);
    expect(chooseLinks(weights, { ...all, special: 'hide' }, [{ side: 'query', index: 1 }]).weight[0]).toBe(row[1]);
  });
});

describe('strokeOf', () => {
  const wide = { mapping: 'width', curve: 'linear', widest: 1 } as const;

  it('fault 1: gives a weight the same width whenever it is drawn', () => {
    const first = strokeOf(0.4, wide);
    strokeOf(0.9, { mapping: 'both', curve: 'sqrt', widest: 1 });
    expect(strokeOf(0.4, wide)).toEqual(first);
    expect(strokeOf(0.8, wide).width).toBeCloseTo(2 * first.width, 6);
  });

  it('maps to width, to opacity, or to both', () => {
    expect(strokeOf(0.25, { ...wide, curve: 'sqrt' }).width).toBeCloseTo(4, 6);
    expect(strokeOf(0.25, { ...wide, mapping: 'opacity' })).toEqual({ width: 2, opacity: 0.25 });
    expect(strokeOf(0.25, { ...wide, mapping: 'both' })).toEqual({ width: 2, opacity: 0.25 });
  });

  it('makes the largest the widest on wish, and always of changes', async () => {
    const look = { mapping: 'width', curve: 'linear', rows: 'readable', brightest: 'own' } as Selection;
    const weights = await weightsOf();
    const largest = Math.max(...weights.queries.map((query) => Math.max(...weights.row(0, query)!)));
    expect(strokeOf(largest, lookOfLinks(look, weights)).width).toBe(WIDEST_PX);
    expect(lookOfLinks({ ...look, brightest: 'one' }, weights).widest).toBe(1);
    const change = Weights.difference(weights, weights.mean(), 'itself');
    expect(lookOfLinks({ ...look, brightest: 'one' }, change).widest).toBe(1); // nothing has changed
  });
});
