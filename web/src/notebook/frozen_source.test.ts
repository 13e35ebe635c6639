import { describe, expect, it } from 'vitest';

import { type Archive, FrozenSource } from './frozen_source';

/** A safetensors document of float32 arrays. */
function documentOf(arrays: Record<string, { shape: number[]; values: number[] }>): Uint8Array {
  const header: Record<string, unknown> = {};
  const all: number[] = [];
  for (const [name, { shape, values }] of Object.entries(arrays)) {
    header[name] = { dtype: 'F32', shape, data_offsets: [4 * all.length, 4 * (all.length + values.length)] };
    all.push(...values);
  }
  let text = JSON.stringify(header);
  text += ' '.repeat((8 - (text.length % 8)) % 8);
  const bytes = new Uint8Array(8 + text.length + 4 * all.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(new TextEncoder().encode(text), 8);
  bytes.set(new Uint8Array(Float32Array.from(all).buffer), 8 + text.length);
  return bytes;
}

const range = (count: number, of: (index: number) => number): number[] => Array.from({ length: count }, (_, index) => of(index));
const WEIGHTS = range(2 * 3 * 3, (index) => index / 16);
const QUERY = range(2 * 3 * 2, (index) => index - 5); // two heads
const KEY = range(1 * 3 * 2, (index) => 2 - index); // which share one of the keys

function archive(mask: 'none' | 'causal' | 'window' = 'none', window?: number): FrozenSource {
  const words = { step: '7', item: '1', tokens_query: '["a","b","c"]' };
  const held: Archive = {
    run: { id: '0', name: 'r' }, item: 1, listing: { layers: [{ layer: 4, scale: 0.5, mask, window }] }, steps: { steps: [[7, 1, 1]] },
    words: { '4/7': words },
  };
  return new FrozenSource(held, documentOf({
    'weights/4/7': { shape: [2, 3, 3], values: WEIGHTS },
    'query/4/7': { shape: [2, 3, 2], values: QUERY },
    'key/4/7': { shape: [1, 3, 2], values: KEY },
    'softmax/4/7': { shape: [2, 3, 3], values: WEIGHTS },
  }));
}

const PLACE = { layer: 4, step: 7, item: 1 };

describe('FrozenSource', () => {
  it('gives the weights of the heads and tokens that are asked for, with the words of their step', async () => {
    const answer = await archive().arrays('/runs/0/attention/head', { ...PLACE, heads: '1', first: 2 });
    expect(answer.get('weights').shape).toEqual([1, 2, 2]);
    expect([...answer.f32('weights')]).toEqual([9, 10, 12, 13].map((index) => WEIGHTS[index]));
    expect(answer.json('heads')).toEqual([1]);
    expect(answer.json('key_value_head')).toEqual([0]);
    expect(answer.json('tokens_query')).toEqual(['a', 'b', 'c']);
  });

  it('gives rows over all keys', async () => {
    const answer = await archive().arrays('/runs/0/attention/rows', { ...PLACE, heads: '0', queries: '2,0' });
    expect([...answer.f32('weights')]).toEqual([6, 7, 8, 0, 1, 2].map((index) => WEIGHTS[index]));
  });

  it('works out products whose sums are q·k, and scales those', async () => {
    const answer = await archive().arrays('/runs/0/attention/neuron', { ...PLACE, head: 1, query: 2 });
    const [q, key, product, dot, scaled] = ['query', 'key', 'product', 'dot', 'scaled'].map((name) => [...answer.f32(name)]);
    expect(q).toEqual(QUERY.slice(10));
    expect(key).toEqual(KEY);
    expect(product).toEqual(KEY.map((value, at) => value * q![at % 2]!));
    expect(dot).toEqual([0, 1, 2].map((row) => product![2 * row]! + product![2 * row + 1]!));
    expect(scaled).toEqual(dot!.map((value) => value / 2));
    expect([...answer.f32('softmax')]).toEqual(WEIGHTS.slice(15));
    expect(answer.json('scale')).toBe(0.5);
  });

  it('masks what no query may look at', async () => {
    const scaled = async (mask: 'causal' | 'window', window?: number): Promise<boolean[]> =>
      [...(await archive(mask, window).arrays('/runs/0/attention/neuron', { ...PLACE, head: 0, query: 1 })).f32('scaled')]
        .map(Number.isFinite);
    expect(await scaled('causal')).toEqual([true, true, false]);
    expect(await scaled('window', 1)).toEqual([false, true, false]);
  });

  it('says what it does not hold', async () => {
    const held = archive();
    await expect(held.arrays('/runs/0/attention/head', { ...PLACE, item: 0 })).rejects.toThrow('batch item 1 only');
    await expect(held.arrays('/runs/0/attention/head', { ...PLACE, step: 8 })).rejects.toThrow('layer 4 at step 8');
    await expect(held.arrays('/runs/0/attention/head', { ...PLACE, heads: '2' })).rejects.toThrow('heads 0 to 1, not 2');
    await expect(held.arrays('/runs/0/attention/neuron', { ...PLACE, query: 3 })).rejects.toThrow('tokens 0 to 2, not 3');
    await expect(held.arrays('/runs/0/attention/atlas', PLACE)).rejects.toThrow('not /runs/0/attention/atlas');
    await expect(held.json('/runs/0/rules')).rejects.toThrow('not /runs/0/rules');
    await expect(held.post()).rejects.toThrow('does not act');
  });
});
