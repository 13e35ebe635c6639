import { describe, expect, it } from 'vitest';

import { Archive, ArchiveSource, savedRun } from './archive';

/** A safetensors document. */
function documentOf(arrays: Record<string, { dtype: string; shape: number[]; bytes: Uint8Array }>, words: Record<string, string>): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: words };
  let end = 0;
  for (const [name, { dtype, shape, bytes }] of Object.entries(arrays)) {
    header[name] = { dtype, shape, data_offsets: [end, end + bytes.byteLength] };
    end += bytes.byteLength;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const document = new Uint8Array(8 + text.byteLength + end);
  new DataView(document.buffer).setBigUint64(0, BigInt(text.byteLength), true);
  document.set(text, 8);
  let at = 8 + text.byteLength;
  for (const { bytes } of Object.values(arrays)) {
    document.set(bytes, at);
    at += bytes.byteLength;
  }
  return document;
}

function f32(shape: number[], values: number[]) {
  return { dtype: 'F32', shape, bytes: new Uint8Array(Float32Array.from(values).buffer) };
}

function f64(shape: number[], values: number[]) {
  return { dtype: 'F64', shape, bytes: new Uint8Array(Float64Array.from(values).buffer) };
}

function sourceOf(answers: Record<string, unknown>): ArchiveSource {
  const bodies = Object.values(answers).map((body) => (body instanceof Uint8Array ? body : new TextEncoder().encode(JSON.stringify(body))));
  const arrays = Object.fromEntries(bodies.map((bytes, i) => [String(i), { dtype: 'U8', shape: [bytes.byteLength], bytes }]));
  const document = documentOf(arrays, { addresses: JSON.stringify(Object.keys(answers)) });
  return new ArchiveSource(Promise.resolve(new Archive(document.slice().buffer)));
}

const values = (array: { values(): ArrayLike<number> }) => Array.from(array.values());

describe('an archive', () => {
  it('answers what it holds, and says of the rest that the run does', async () => {
    const source = sourceOf({ '/about': { place: 'first' }, '/runs/1f/confusion?labels=a&predictions=b': { n: 1 } });
    expect(await source.open()).toEqual({ place: 'first' });
    expect(await source.json('/runs/1f/confusion', { predictions: 'b', labels: 'a' })).toEqual({ n: 1 });
    await expect(source.json('/runs/1f/confusion', { predictions: 'c', labels: 'a' })).rejects.toMatchObject({ code: 'not found' });
    await expect(source.json('/runs/1f/events')).rejects.toMatchObject({ code: 'not found' });
    await expect(source.post()).rejects.toMatchObject({ code: 'permission denied' });
    expect(source.givesFiles).toBe(false);
  });

  it('takes the newest step at or before the wanted one, in whatever width it has', async () => {
    const at = (step: number) => `/runs/1f/attention/atlas?item=0&size=32&step=${step}`;
    const source = sourceOf({ [at(10)]: { step: 10 }, [at(4)]: { step: 4 }, [at(7)]: { step: 7 } });
    const asked = async (step?: number) => (await source.json<{ step: number }>('/runs/1f/attention/atlas', { size: 64, step })).step;
    expect(await asked(9)).toBe(7);
    expect(await asked(10)).toBe(10);
    expect(await asked()).toBe(10);
    expect(await asked(1)).toBe(4);
    await expect(source.json('/runs/1f/attention/atlas', { item: 1, step: 7 })).rejects.toMatchObject({ code: 'not found' });
  });

  it('has the series of each mode apart, and gives those of the mode that is asked for', async () => {
    const words = JSON.stringify([{ id: 'a', mode: 'train' }, { id: 'a', mode: 'eval' }]);
    const byMode = documentOf({ '0.value': f64([1], [1]), '1.value': f64([1], [2]), '10.value': f64([1], [3]) }, { series: words });
    const source = sourceOf({ '/runs/1f/series?buckets=1000&by=mode&tensors=a': byMode });
    const both = await source.arrays('/runs/1f/series', { tensors: 'a', by: 'mode', buckets: 300, with: 'modes' });
    expect(values(both.get('1.value'))).toEqual([2]);
    const evaluation = await source.arrays('/runs/1f/series', { tensors: 'a', mode: 'eval' });
    expect(evaluation.json('series')).toEqual([{ id: 'a', mode: 'eval' }]);
    expect(values(evaluation.get('0.value'))).toEqual([2]);
    expect([...evaluation.arrays.keys()]).toEqual(['0.value']);
    await expect(source.arrays('/runs/1f/series', { tensors: 'a' })).rejects.toMatchObject({ code: 'not found' });
  });

  it('makes one answer of several series', async () => {
    const series = (id: string, value: number) => documentOf({ '0.value': f64([1], [value]) }, { series: JSON.stringify([{ id }]) });
    const source = sourceOf({
      '/runs/1f/series?buckets=1000&tensors=a': series('a', 1),
      '/runs/1f/series?buckets=1000&tensors=b': series('b', 2),
    });
    const both = await source.arrays('/runs/1f/series', { tensors: 'b,a', buckets: 300 });
    expect(values(both.get('0.value'))).toEqual([2]);
    expect(values(both.get('1.value'))).toEqual([1]);
    expect(both.json('series')).toEqual([{ id: 'b' }, { id: 'a' }]);
  });

  it('takes the rows of the tensors that are meant', async () => {
    const table = documentOf({ numbers: f64([3, 2], [1, 2, 3, 4, 5, 6]), steps: f64([3], [7, 8, 9]) }, { names: '["min","max"]' });
    const source = sourceOf({ '/runs/1f/statistics?of=mean&points=24&tensors=a,b,c': table });
    const some = await source.arrays('/runs/1f/statistics', { tensors: 'c,a', points: 24, of: 'mean', step: 3 });
    expect(values(some.get('numbers'))).toEqual([5, 6, 1, 2]);
    expect(values(some.get('steps'))).toEqual([9, 7]);
    await expect(source.arrays('/runs/1f/statistics', { tensors: 'd', of: 'mean' })).rejects.toMatchObject({ code: 'not found' });
  });

  it('cuts heads, queries and first tokens out of a layer', async () => {
    const weights = f32([2, 3, 3], Array.from({ length: 18 }, (_, i) => i));
    const words = { heads: '[0,1]', key_value_head: '[0,0]', length: '3' };
    const source = sourceOf({ '/runs/1f/attention/head?item=0&layer=1&step=5': documentOf({ weights }, words) });
    const head = await source.arrays('/runs/1f/attention/head', { layer: 1, heads: '1', first: 2, step: 6, item: 0 });
    expect(head.get('weights').shape).toEqual([1, 2, 2]);
    expect(values(head.get('weights'))).toEqual([9, 10, 12, 13]);
    expect(head.json('key_value_head')).toEqual([0]);
    const rows = await source.arrays('/runs/1f/attention/rows', { layer: 1, heads: '0,1', queries: '2', step: 5 });
    expect(values(rows.get('weights'))).toEqual([6, 7, 8, 15, 16, 17]);
    await expect(source.arrays('/runs/1f/attention/rows', { layer: 1, queries: '3' })).rejects.toMatchObject({ code: 'out of range' });
    await expect(source.arrays('/runs/1f/attention/head', { layer: 2 })).rejects.toMatchObject({ code: 'not found' });
  });

  it('is there only where a page was saved with one', () => {
    expect(savedRun()).toBeUndefined();
  });
});
