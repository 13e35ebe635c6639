import { afterEach, describe, expect, it } from 'vitest';

import { Addresses, atlasOf } from './api';
import type { Panes } from './attention_view';
import { FakeSource, SMALL } from './fake_source';
import { endsOf, largestChange, seriesAt } from './metric_lines';
import { metricAt, orderOf } from './model_order';
import { ModelPane } from './model_pane';
import { changesOf } from './pixels';
import { byteOfWeight, pixelsOf, weightOfByte } from './pixels';
import { Bench } from './test_bench';

const panes: Panes = { model: async () => (element, context) => new ModelPane(element, context) };

let bench: Bench | null = null;

afterEach(() => {
  bench?.close();
  bench = null;
});

async function atlas() {
  const request = new Addresses('r').atlas(20, 0, 4);
  return atlasOf(await new FakeSource(SMALL).arrays(request.path, request.parameters), 20, 0);
}

describe('ModelPane', () => {
  it('shows every head, and opens one at the same step and item', async () => {
    bench = new Bench(panes, { item: '1' }, SMALL, 20);
    await bench.pane('step', '20');
    await bench.until(() => bench!.all('.at-cell').length === 12);
    bench.one('.at-cell[data-layer="2"][data-head="3"]').click();
    expect(bench.state).toEqual({ step: 20, params: { item: '1', mode: 'head', layer: '2', heads: '3' } });
  });

  it('moves over the heads by arrows', async () => {
    bench = new Bench(panes);
    await bench.until(() => bench!.all('.at-cell').length === 12);
    const first = bench.one('.at-cell');
    first.focus();
    for (const key of ['ArrowRight', 'ArrowDown']) document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    expect((document.activeElement as HTMLElement).dataset).toMatchObject({ layer: '1', head: '1' });
    expect(document.activeElement!.getAttribute('aria-label')).toMatch(/^Layer 1, head 1, entropy \d/);
  });

  it('orders heads by a number, in the picture and in the table', async () => {
    bench = new Bench(panes, { sort: '-entropy' });
    await bench.until(() => bench!.all('.at-cell').length === 12);
    const details = bench.one('.at-pane > .at-details') as HTMLDetailsElement;
    details.open = true;
    details.dispatchEvent(new Event('toggle'));
    const values = bench.all('data[data-metric="entropy"]').map((element) => Number((element as HTMLDataElement).value));
    expect(values).toEqual([...values].sort((a, b) => a - b));
    const cells = bench.all('.at-cell').map((cell) => `${cell.dataset['layer']}.${cell.dataset['head']}`);
    expect(cells).toEqual(bench.all('tbody th').map((cell) => cell.textContent));
    bench.all('thead button')[1]!.click();
    expect(bench.state.params['sort']).toBe('entropy');
  });

  it('shows what has changed since the step that the link compares with', async () => {
    bench = new Bench(panes, { b: '12' }, SMALL, 30);
    await bench.until(() => bench!.element.textContent!.includes('Change of weight from step 10'));
    expect(bench.source.asked.some((address) => address.endsWith('step=10'))).toBe(true);
    await bench.until(() => bench!.one('.at-status').textContent === 'Step 30, compared with step 10');
    expect([...changesOf(Uint8Array.of(255, 0), Uint8Array.of(0, 255))]).toEqual([1, -1]);
    expect(() => changesOf(new Uint8Array(2), new Uint8Array(3))).toThrow('same layers, heads and tokens');
  });

  it('gives away its numbers', async () => {
    bench = new Bench(panes);
    await bench.pane('step', '30');
    const csv = await (await bench.view.snapshot('csv'))!.data.text();
    expect(csv.split('\r\n').length).toBe(14);
    const npy = (await bench.view.snapshot('npy'))!;
    expect(npy.data.size).toBe(128 + 12 * 64 * 64);
  });
});

describe('the atlas', () => {
  it('has the first query in its top row', async () => {
    const { max } = await atlas();
    expect(weightOfByte(max[0]!)).toBeCloseTo(new FakeSource(SMALL).row(0, 0, 20, 0, 0)[0]!, 1);
    expect([...pixelsOf(max.subarray(0, 2)).subarray(3, 4)]).toEqual([255]);
  });

  it('keeps weights through its bytes', () => {
    for (let byte = 0; byte < 256; byte++) expect(byteOfWeight(weightOfByte(byte))).toBe(byte);
  });

  it('puts heads whose number is unknown last', async () => {
    const found = await atlas();
    found.numbers[0] = NaN;
    for (const sort of ['entropy', '-entropy']) expect(orderOf(found, [4, 4, 4], sort).at(-1)).toEqual({ layer: 0, head: 0 });
    expect(orderOf(found, [4, 2, 4], 'layer').length).toBe(10);
    expect(metricAt(found, 'nothing', { layer: 0, head: 0 })).toBeNaN();
  });

  it('has series of each head', () => {
    const series = { steps: Float64Array.of(1, 2), metrics: ['a', 'b'], layers: 1, heads: 2, numbers: Float32Array.of(1, 2, 3, 4, 5, 6, NaN, 8) };
    expect([...seriesAt(series, 'b', 0, 1)]).toEqual([4, 8]);
    expect(endsOf(series, 'a')).toEqual([1, 5]);
    expect(endsOf(series, 'c')).toBe(null);
    expect(largestChange([0, 4, 8], [[1, 1.5, 1.25], [NaN, 2, 0.5]])).toEqual({ head: 1, step: 8, from: 2, to: 0.5 });
    expect(largestChange([0, 4], [[1, 1]])).toBe(null);
  });
});
