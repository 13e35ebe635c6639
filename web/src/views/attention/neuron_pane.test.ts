import { afterEach, describe, expect, it } from 'vitest';

import { Addresses, type Neuron, neuronOf } from './api';
import type { Panes } from './attention_view';
import { type FakeModel, FakeSource, SMALL } from './fake_source';
import { invariantsOf, orderOfDims, rowsInOrder } from './neuron_math';
import { NeuronPane } from './neuron_pane';
import { byteOfSigned, signedPixels } from './pixels';
import { Bench } from './test_bench';

const panes: Panes = { neuron: async () => (element, context) => new NeuronPane(element, context) };

let bench: Bench | null = null;

function open(params: Record<string, string> = {}, model: FakeModel = SMALL): Bench {
  bench = new Bench(panes, { mode: 'neuron', ...params }, model);
  return bench;
}

afterEach(() => {
  bench?.close();
  bench = null;
});

function openTable(of: Bench): void {
  const details = of.one('.at-pane > .at-details') as HTMLDetailsElement;
  details.open = true;
  details.dispatchEvent(new Event('toggle'));
}

/** A number of the tables, by column and key or dimension. */
function number(of: Bench, column: string, place: string): number {
  return Number((of.one(`data[data-column="${column}"]${place}`) as HTMLDataElement).value);
}

async function answered(query: number, model = SMALL): Promise<Neuron> {
  const request = new Addresses('r').neuron(1, 3, 20, 0, query, 0);
  return neuronOf(await new FakeSource(model).arrays(request.path, request.parameters), 3, query);
}

describe('NeuronPane', () => {
  it('fault 2: after every choice, products, sums and weights are of the query that is shown', async () => {
    const at = open();
    await at.pane('query', '0');
    openTable(at);
    for (const [query, key] of [[3, 2], [7, 11], [0, 5]] as const) {
      at.go({ params: { mode: 'neuron', layer: '1', heads: '3', query: String(query), key: String(key) } });
      await at.pane('query', String(query));
      await at.until(() => at.one('[data-pane]').dataset['key'] === String(key));
      const sum = [...Array(8).keys()].reduce((total, dim) => total + number(at, 'product', `[data-dim="${dim}"][data-key="${key}"]`), 0);
      expect(sum).toBeCloseTo(number(at, 'dot', `[data-key="${key}"]`), 5);
      const q = at.source.vector('query', 1, 3, 30, 0, query);
      const k = at.source.vector('key', 1, 3, 30, 0, key);
      q.forEach((value, dim) => {
        expect(Math.fround(number(at, 'query', `[data-dim="${dim}"]`))).toBe(value);
        expect(Math.fround(number(at, 'key', `[data-dim="${dim}"]`))).toBe(k[dim]);
      });
      const softmax = [...Array(12).keys()].map((each) => number(at, 'softmax', `[data-key="${each}"]`));
      expect(softmax.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 5);
      expect(Math.fround(softmax[key]!)).toBe(at.source.row(1, 3, 30, 0, query)[key]);
      expect(at.one('[data-pane]').dataset).toMatchObject({ dotHolds: 'true', softmaxHolds: 'true' });
    }
  });

  it('chooses a query by click, by number and by text', async () => {
    const at = open();
    await at.pane('query', '0');
    await at.until(() => at.all('.at-tokens-query .at-token').length === 12);
    at.one('.at-tokens-query [data-index="4"]').click();
    await at.pane('query', '4');
    const field = at.one('[data-search]') as HTMLInputElement;
    field.value = '2';
    field.dispatchEvent(new Event('change'));
    await at.pane('query', '2');
    field.value = '[sep]';
    field.dispatchEvent(new Event('change'));
    await at.pane('query', '7');
    expect(at.one('.at-tokens-query [aria-pressed="true"]').textContent).toBe('7[SEP]');
  });

  it('reaches each number by keys', async () => {
    const at = open({ query: '5', key: '1' });
    await at.pane('query', '5');
    const canvas = at.one('.at-neuron-middle canvas');
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowRight']) {
      canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    }
    expect(at.one('.at-card').dataset).toMatchObject({ key: '2', dim: '3' });
    const product = Number((at.one('.at-card data[data-name="q × k"]') as HTMLDataElement).value);
    const [q, k] = [at.source.vector('query', 0, 0, 30, 0, 5), at.source.vector('key', 0, 0, 30, 0, 2)];
    expect(Math.fround(product)).toBe(Math.fround(q[3]! * k[3]!));
  });

  it('names the key head that a query head shares', async () => {
    const at = open({ heads: '3' });
    await at.pane('head', '3');
    expect(at.one('.at-pane .at-note').textContent).toContain('Head 3 uses key head 1.');
  });

  it('says what is missing where queries and keys were not captured', async () => {
    const at = open({}, { ...SMALL, weightsOnly: true });
    await at.until(() => at.element.textContent!.includes('The queries and keys of encoder.0 were not captured'));
  });

  it('gives away numbers that read back as the same', async () => {
    const at = open({ query: '1' });
    await at.pane('query', '1');
    const csv = await (await at.view.snapshot('csv'))!.data.text();
    const cells = csv.split('\r\n')[4]!.split(',');
    expect(cells.slice(4, 8)).toEqual(['1', 'the', '3', '##val']);
    const dot = at.source.vector('query', 0, 0, 30, 0, 1).reduce((sum, q, dim) => sum + q * at.source.vector('key', 0, 0, 30, 0, 3)[dim]!, 0);
    expect(Number(cells[8])).toBeCloseTo(dot, 5); // a negative one is a number too, no text
    expect(csv).not.toContain("'");
    expect(Math.fround(Number(cells[10]))).toBe(at.source.row(0, 0, 30, 0, 1)[3]);
    expect(await (await at.view.snapshot('svg'))!.data.text()).toContain('Blue is negative, orange positive');
  });
});

describe('what the neuron view works out', () => {
  it('finds that sums do not agree', async () => {
    const neuron = await answered(2);
    expect(invariantsOf(neuron)).toMatchObject({ dotHolds: true, scaleHolds: true, softmaxHolds: true, wholeRow: true });
    const wrong = { ...neuron, dot: (await answered(9)).dot };
    expect(invariantsOf(wrong)).toMatchObject({ dotHolds: false, scaleHolds: false });
    expect(invariantsOf({ ...neuron, softmax: neuron.softmax.map((x) => x * 0.99) }).softmaxHolds).toBe(false);
  });

  it('leaves masked keys out', async () => {
    const neuron = await answered(2, { ...SMALL, causal: true });
    expect(neuron.scaled[5]).toBe(-Infinity);
    expect(invariantsOf(neuron)).toMatchObject({ scaleHolds: true, softmaxHolds: true });
  });

  it('fault 3: the top row of the picture is the first key, as the labels are', async () => {
    const neuron = await answered(0);
    const order = orderOfDims(neuron, 'index', 0);
    const rows = rowsInOrder(neuron.key, neuron.size, 0, 12, order);
    expect([...rows]).toEqual([...neuron.key]);
    expect([...rowsInOrder(neuron.key, neuron.size, 4, 1, order)]).toEqual([...neuron.key.subarray(32, 40)]);
  });

  it('fault 4: colours show the sign, and zero has none', () => {
    const [negative, zero, positive] = [-1, 0, 1].map((value) => [...signedPixels([value], 1)]);
    expect(negative![2]).toBeGreaterThan(negative![0]!); // blue
    expect(positive![0]).toBeGreaterThan(positive![2]!); // orange
    expect(Math.max(...zero!.slice(0, 3)) - Math.min(...zero!.slice(0, 3))).toBeLessThan(16);
    expect([byteOfSigned(-5, 1), byteOfSigned(5, 1), byteOfSigned(0.3, 0)]).toEqual([0, 255, 128]);
  });

  it('sorts dimensions by what they add to the chosen key', async () => {
    const neuron = await answered(3);
    const order = orderOfDims(neuron, 'contribution', 6);
    const added = order.map((dim) => neuron.product[6 * neuron.size + dim]!);
    expect(added).toEqual([...added].sort((a, b) => b - a));
    expect([...orderOfDims(neuron, 'variance', 0)].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });
});
