// The map of layers: what its colours, cells and words say, and the view on a source whose answers are known.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Arrays, type NdArray } from '../../data/safetensors';
import { contextOf, GivenSource, type WrittenContext } from '../insight_testing';

import { type LayerMap, layerMapOf } from './api';
import { placesIn, rangeOf } from './colour_range';
import { csvRows, rowNumbers } from './layer_table';
import { LayersView } from './layers_view';
import { columnAt, layoutMap, oddRuns } from './map_layout';
import { paintedAs } from './map_picture';
import { captureLine, firstKept, type KeptCollection, quantityOf } from './quantities';
import { cellText, firstOdd, oddSummary, readText, stepOfCell } from './words';

const HOSTILE = 'gradient/<img src=x onerror=alert(1)>\u202e';
const norm = quantityOf('norm')!;
const zeroShare = quantityOf('zero_share')!;

function column(values: number[], shape = [values.length]): NdArray {
  const array = Float64Array.from(values);
  return { dtype: 'F64', shape, bytes: new Uint8Array(array.buffer), values: () => array };
}

interface Given {
  max?: number[];
  read?: number[];
  odd?: [cell: number, step: number, nan: number, inf: number][];
  about?: object;
  kept?: KeptCollection[];
  layers?: string[];
}

/** Two layers by three columns of ten steps; the second layer is NaN from step 14 on. */
function answer({ max = [1, 2, 4, 8, 0.5, NaN], read = [10, 10, 10], odd = [[4, 14, 5, 0], [5, 20, 9, 1]], about = {}, kept = [], layers = ['gradient/a', HOSTILE] }: Given = {}): Arrays {
  const arrays: Record<string, NdArray> = {
    first_step: column([0, 10, 20]), last_step: column([9, 19, 29]), steps: column([10, 10, 10]), read: column(read),
    max: column(max), max_step: column([3, 12, 29, 0, 11, -1]),
    odd_cell: column(odd.map(([cell]) => cell)), odd_step: column(odd.map(([, step]) => step)), nan: column(odd.map(([, , nan]) => nan)), inf: column(odd.map(([, , , inf]) => inf)),
  };
  return new Arrays(new Map(Object.entries(arrays)), {
    layers: JSON.stringify(layers.map((name, i) => ({ id: String(i), name }))), kept: JSON.stringify(kept),
    about: JSON.stringify({ quantity: 'norm', collection: 'gradients', worker: 'rank-00000', workers: ['rank-00000'], left_out: 0, steps: 30, left: 0, unreadable: 0, ...about }),
  });
}

const map = (given?: Given): LayerMap => layerMapOf(answer(given));

describe('colours', () => {
  it('go by logarithm over what is above 0, and zeros have a colour of their own', () => {
    const range = rangeOf(norm, Float64Array.of(0, 0.01, NaN, 100, 1), true)!;
    expect(range).toEqual({ low: 0.01, high: 100, log: true, zeros: true });
    expect([0.01, 100, 0].map(placesIn(range))).toEqual([0, 1, NaN]);
    expect(placesIn(range)(1)).toBeCloseTo(0.5);
  });
  it('are linear on wish, and of shares from 0 to 1', () => {
    expect(placesIn(rangeOf(norm, Float64Array.of(1, 3), false)!)(2)).toBe(0.5);
    expect([3, 3].map(placesIn(rangeOf(norm, Float64Array.of(3, 3), true)!))).toEqual([0.5, 0.5]); // one number has no span
    expect(rangeOf(zeroShare, Float64Array.of(0.25, 0.5), false)).toMatchObject({ low: 0, high: 1, log: false });
    expect(rangeOf(norm, Float64Array.of(0, 0), true)).toMatchObject({ log: false });
    expect(rangeOf(norm, Float64Array.of(NaN), true)).toBeUndefined();
  });
});

describe('cells', () => {
  it('say the exact number, its step, and what is not finite', () => {
    expect(cellText(map(), norm, { row: 0, column: 1 })).toBe('gradient/a, steps 10 to 19: Max 2 at step 12');
    expect(cellText(map(), norm, { row: 1, column: 1 })).toBe(`${HOSTILE}, steps 10 to 19: Max 0.5 at step 11; NaN at 5 of 10 steps, first at step 14`);
    expect(cellText(map(), norm, { row: 1, column: 2 })).toBe(`${HOSTILE}, steps 20 to 29: no finite number; NaN at 9, Inf at 1 of 10 steps, first at step 20`);
  });
  it('lead to where they are not finite, else to the largest', () => {
    expect([0, 1, 2].map((at) => stepOfCell(map(), { row: 0, column: at }))).toEqual([3, 12, 29]);
    expect([0, 1, 2].map((at) => stepOfCell(map(), { row: 1, column: at }))).toEqual([0, 14, 20]);
  });
  it('of columns that were not read yet are painted as those before them', () => {
    expect([...paintedAs([0, 3, 0, 0, 1, 0])]).toEqual([-1, 1, 1, 1, 4, 4]);
    expect(cellText(map({ max: [NaN, 2, 4, 8, 0.5, NaN], read: [0, 10, 10] }), norm, { row: 0, column: 0 })).toBe('gradient/a, steps 0 to 9: not read yet');
  });
  it('that are odd stand in stretches', () => {
    expect(oddRuns([5, 4, 0, 3], 3)).toEqual([{ row: 0, from: 0, to: 1 }, { row: 1, from: 0, to: 3 }]);
  });
  it('are found by step, and rows get thinner as there are more', () => {
    expect([-1, 0, 15, 99].map((step) => columnAt([0, 10, 20], step))).toEqual([-1, 0, 1, 2]);
    expect([layoutMap(10, 1000, 20), layoutMap(300, 1000, 20)].map(({ rowHigh, nameEvery }) => [rowHigh, nameEvery])).toEqual([[20, 1], [3, 5]]);
    expect(layoutMap(10, 390, 60).left).toBe(140);
    expect(layoutMap(10, 1000, 21).nameLength).toBe(21);
  });
});

describe('words', () => {
  it('name the first layer that is not finite: of gradients the last one, of outputs the first', () => {
    const both: Given['odd'] = [[1, 14, 1, 0], [4, 14, 1, 0], [5, 20, 1, 0]];
    expect(firstOdd(map({ odd: both }))).toMatchObject({ row: 1, step: 14 });
    expect(firstOdd(map({ odd: both, about: { collection: 'outputs' } }))).toMatchObject({ row: 0, step: 14 });
    expect(oddSummary(map({ odd: both }))).toBe(`NaN or Inf in 2 of 2 layers, first at step 14 in ${HOSTILE} and 1 other`);
  });
  it('say how far it was read, and what is left out', () => {
    expect(readText(map())).toBe('');
    expect(readText(map({ about: { left: 20, unreadable: 3, left_out: 4 } }))).toBe('Read 10 of 30 steps so far, from everywhere; paler columns are still to be read. 3 numbers are damaged and left out. 4 layers beyond the first 2 are left out.');
  });
  it('are a table and a file', () => {
    expect(rowNumbers(map())).toEqual([
      { name: 'gradient/a', last: 4, max: 4, maxStep: 29, nan: 0, inf: 0, oddStep: -1 },
      { name: HOSTILE, last: 0.5, max: 8, maxStep: 0, nan: 14, inf: 1, oddStep: 14 },
    ]);
    expect(csvRows(map())[2]).toEqual([HOSTILE, '8', '0.5; NaN x 5', 'NaN x 9; Inf x 1']);
  });
});

describe('what was captured', () => {
  const kept = [{ name: 'all', statistics: true, values: true }, { name: 'outputs', statistics: true, values: false }, { name: 'weights', statistics: true, values: false }];
  it('decides what is shown first', () => {
    expect(firstKept(kept)).toMatchObject({ quantity: { id: 'zero_share' }, collection: 'outputs' });
    expect(firstKept([kept[2]!])).toMatchObject({ quantity: { id: 'std' }, collection: 'weights' });
    expect(firstKept([])).toBeUndefined();
  });
  it('is told with the options of the program, which names cannot leave', () => {
    expect(captureLine(norm, 'gradients')).toBe('trainwarden run --save-interval 10 --include-collection gradients --keep statistics -- python train.py');
    expect(captureLine(quantityOf('dead_share')!, "x'; rm -rf /")).toContain(`--include-collection 'x'\\''; rm -rf /' --keep values`);
  });
});

describe('the view', () => {
  let box: HTMLElement;
  let view: LayersView;
  let context: WrittenContext;
  const one = (selector: string) => box.querySelector<HTMLElement>(selector)!;

  async function mount(answers: (address: string) => Arrays, params: Record<string, string> = {}): Promise<GivenSource> {
    const source = new GivenSource({ '/runs/00000000000000aa/layers': answers });
    context = contextOf(source);
    view = new LayersView(box, context, { step: null, params });
    await vi.waitFor(() => expect(box.dataset['drawn']).toBeDefined());
    return source;
  }
  beforeEach(() => {
    box = document.createElement('div');
    document.body.append(box);
  });
  afterEach(() => {
    view.destroy();
    box.remove();
  });

  it('shows a map whose cursor moves by keys, reads it aloud and leads to the tensor', async () => {
    await mount(() => answer());
    expect(box.dataset['step']).toBe('29');
    expect(one('.scale-bar').textContent).toBe('0.58');
    expect(one('canvas').getAttribute('aria-label')).toContain('Gradient norm of 2 layers over steps 0 to 29; from 0.5 to 8; NaN or Inf in 1 of 2 layers');
    expect(one('.ly-odd a').getAttribute('href')).toContain('step=14');
    expect(box.querySelector('img')).toBeNull();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowLeft']) one('.ly-map').dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    expect(one('.ly-readout').textContent).toContain('NaN at 5 of 10 steps');
    expect(context.said.at(-1)).toBe(one('.ly-readout').textContent);
    one('.ly-map').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
    expect(context.opened).toEqual([{ view: 'tensors', params: { tensor: HOSTILE }, step: 14 }]);
  });

  it('zooms by keys to whole columns, and back', async () => {
    await mount(() => answer());
    const press = (key: string) => view.key(new KeyboardEvent('keydown', { key }));
    expect([press('+'), press('x')]).toEqual([true, false]);
    expect(context.changes.at(-1)).toEqual({ from: '10', to: '19' });
    expect(context.said.at(-1)).toBe('Shown are steps 10 to 19');
    view.update({ step: null, params: { from: '10', to: '19' } });
    await vi.waitFor(() => expect(one('button').hasAttribute('disabled')).toBe(false));
    press('0');
    expect(context.changes.at(-1)).toEqual({ from: undefined, to: undefined });
  });

  it('asks on until all was read', async () => {
    const notes: (string | null | undefined)[] = [];
    const source = await mount(() => answer({ about: { left: notes.push(box.querySelector('.ly-note')?.textContent) === 1 ? 10 : 0 } }));
    await vi.waitFor(() => expect(notes).toEqual(['', 'Read 20 of 30 steps so far, from everywhere; paler columns are still to be read.']));
    await vi.waitFor(() => expect(one('.ly-note').hidden).toBe(true));
    expect(source.asked.length).toBe(2);
    await new Promise((done) => setTimeout(done, 60));
    expect(source.asked.length).toBe(2);
  });

  it('shows what the run has where nobody chose, and goes on with that', async () => {
    const none = { layers: [], max: [], odd: [], about: { steps: 0 }, kept: [{ name: 'outputs', statistics: true, values: false }] };
    const source = await mount((address) => (address.includes('quantity=norm') ? answer(none) : answer({ about: { quantity: 'zero_share', collection: 'outputs' } })));
    expect(one('.ly-missing').hidden).toBe(true);
    expect(source.asked.map((address) => new URLSearchParams(address.split('?')[1]).get('quantity'))).toEqual(['norm', 'zero_share']);
    expect((one('[data-choice="quantity"]') as HTMLSelectElement).value).toBe('zero_share');
  });

  it('says what to capture where the run does not have it', async () => {
    await mount(() => answer({ layers: [], max: [], odd: [], about: { steps: 0, quantity: 'dead_share', collection: 'relu_outputs' } }), { quantity: 'dead_share' });
    expect(one('.ly-missing code').textContent).toBe('trainwarden run --save-interval 10 --include-collection relu_outputs --keep values -- python train.py');
    expect(one('.ly-map').closest('[hidden]')).not.toBeNull();
  });
});
