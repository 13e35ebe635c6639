// The view on a source whose numbers are known, through what it puts on the page.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Arrays, type DType, type NdArray } from '../../data/safetensors';
import { addressOf, type GivenFile, type Notice, type Parameters, type Source, SourceError } from '../../data/source';
import type { ViewContext, ViewState } from '../view';

import { columnsOf, type Histograms, linearAxis, logAxis, placeOf } from './histogram_axis';
import { LIMITS, sharesOf } from './dtype_limits';
import { axesOf, sliceOf } from './axes';
import { copyLines } from './copy_lines';
import { rangeFor } from './pictures_pane';
import { levels, SmallPictures, type PictureColumn } from './small_pictures';
import { TensorsView } from './tensors_view';
import { indexText, scaleOf } from './values_pane';

const HOSTILE = 'evil/<img src=x onerror=alert(1)>\u202e';
const NAMES = ['conv.weight', HOSTILE, 'tokens'];
const NUMBERS = ['count', 'nan', 'zero', 'mean', 'std', 'min', 'max'];

function array(dtype: DType, shape: number[], values: Float32Array | Float64Array | Uint8Array): NdArray {
  return { dtype, shape, bytes: new Uint8Array(values.buffer, values.byteOffset, values.byteLength), values: () => values };
}

/** conv.weight is [4, 3, 3]; at step s element i is fround(i / 10 + s). */
const element = (step: number, i: number): number => Math.fround(i / 10 + step);

class FakeSource implements Source {
  last = 20;
  shape = [4, 3, 3]; // of conv.weight; of one dimension: its elements are their own indices
  readonly asked: string[] = [];
  private listener: ((notice: Notice) => void) | undefined;

  json<T>(path: string, parameters: Parameters = {}): Promise<T> {
    this.asked.push(path);
    const steps = [[0, 10, this.last / 10 + 1]];
    if (path === '/runs/r/tensors') {
      return Promise.resolve({
        ids: ['id0', 'id1', 'id2'], names: NAMES, dtypes: ['float32', 'float32', 'string'], shapes: [[4, 3, 3], [2], [2]],
        values: [3, 0, 3], statistics: [0, 3, 0], scalars: [0, 0, 0], reductions: [0, 0, 0], first_steps: [0, 0, 0], last_steps: [this.last, 20, 20],
        collections: { weights: [0] },
      } as T);
    }
    if (path.endsWith('/tensors/id0')) {
      return Promise.resolve({ id: 'id0', name: NAMES[0], dtype: this.shape.length === 1 ? 'float64' : 'float32', shape: this.shape, collections: ['weights'], workers: ['rank-00000'], steps, modes: [], forms: { value: steps } } as T);
    }
    if (path.endsWith('/tensors/id2')) {
      return Promise.resolve({ id: 'id2', name: 'tokens', dtype: 'string', shape: [2], collections: [], workers: [], steps, modes: [], forms: { value: steps } } as T);
    }
    if (path.endsWith('/statistics')) return Promise.resolve({ min: 0, max: 30 } as T);
    if (path.includes('/id2/steps/')) return Promise.resolve({ strings: ['[CLS]', '<b>'], strings_shape: [2], shape: [2], step: 20, worker: '', slice: '' } as T);
    return Promise.reject(new SourceError('not found', `${path} ${JSON.stringify(parameters)}`));
  }

  arrays(path: string, parameters: Parameters = {}): Promise<Arrays> {
    this.asked.push(`${path} ${JSON.stringify(parameters)}`);
    if (path === '/runs/r/statistics') return Promise.resolve(this.newest(String(parameters['tensors']).split(',')));
    if (path.endsWith('/statistics')) return Promise.resolve(this.overSteps());
    if (path.endsWith('/pictures')) return Promise.resolve(this.pictures(String(parameters['steps']).split(',').map(Number)));
    if (path.endsWith('/value')) return Promise.resolve(this.value(Number(path.split('/').at(-2)), String(parameters['slice'])));
    return Promise.reject(new SourceError('not found', path));
  }

  post<T>(): Promise<T> {
    return Promise.reject(new SourceError('permission denied', 'no'));
  }
  readonly givesFiles = true;
  readonly files: string[] = [];
  file(path: string, parameters: Parameters = {}): Promise<GivenFile> {
    this.files.push(addressOf(path, parameters));
    return Promise.resolve({ name: 'x', data: new Blob([]) });
  }
  notices(listener: (notice: Notice) => void): () => void {
    this.listener = listener;
    return () => (this.listener = undefined);
  }
  /** The run has a step more, which holds none of these tensors. */
  growElsewhere(): void {
    this.listener?.({ run: 'r', version: ++this.elsewhere, kind: 'steps', last_step: this.elsewhere });
  }
  private elsewhere = 1000;
  grow(): void {
    this.last += 10;
    this.listener?.({ run: 'r', version: this.last, kind: 'steps', last_step: this.last });
  }

  private newest(ids: string[]): Arrays {
    const numbers = Float64Array.from(ids.flatMap((_, i) => [36, i, 9, 1.25, 0.5, 0, 30]));
    return new Arrays(new Map([
      ['steps', array('F64', [ids.length], Float64Array.from(ids, () => this.last))], ['numbers', array('F64', [ids.length, 7], numbers)],
      ['spark_steps', array('F64', [ids.length, 24], new Float64Array(24 * ids.length))], ['sparks', array('F64', [ids.length, 24], new Float64Array(24 * ids.length))],
    ]), { names: JSON.stringify(NUMBERS), pending: '0' });
  }

  private pictures(steps: number[]): Arrays {
    const all = 4 * steps.length;
    const numbers = (name: string, value: number): [string, NdArray] => [name, array('F64', [4, steps.length], new Float64Array(all).fill(value))];
    return new Arrays(new Map([['steps', array('F64', [steps.length], Float64Array.from(steps))], ['pixels', array('U8', [4, steps.length, 3, 3], new Uint8Array(9 * all).fill(7))],
      numbers('low', 0), numbers('high', 1), numbers('nan', 0), numbers('inf', 0)]), {});
  }

  private overSteps(): Arrays {
    const steps = Float64Array.from({ length: this.last / 10 + 1 }, (_, i) => 10 * i);
    const numbers = Float64Array.from([...steps].flatMap((step) => [36, step === 10 ? 2 : 0, 9, step / 3, 0.5, 0, step]));
    return new Arrays(new Map([['steps', array('F64', [steps.length], steps)], ['numbers', array('F64', [steps.length, 7], numbers)]]),
      { names: JSON.stringify(NUMBERS), steps_in_all: String(steps.length), pending: '0', damaged: '0' });
  }

  private value(step: number, slice: string): Arrays {
    if (this.shape.length === 1) {
      const [first, end] = slice.split(':').map(Number) as [number, number];
      const values = Float64Array.from({ length: end - first }, (_, i) => first + i);
      return new Arrays(new Map([['value', array('F64', [values.length], values)]]), { dtype: 'float64', shape: `[${this.shape[0]}]`, slice, worker: 'rank-00000' });
    }
    const kernel = Number(slice.split(',')[0]);
    const values = Float32Array.from({ length: 9 }, (_, i) => element(step, kernel * 9 + i));
    return new Arrays(new Map([['value', array('F32', [3, 3], values)]]), { dtype: 'float32', shape: '[4,3,3]', slice, worker: 'rank-00000' });
  }
}

let source: FakeSource;
let box: HTMLElement;
let view: TensorsView;
let state: ViewState;

function mount(params: Record<string, string> = {}, step: number | null = null): void {
  state = { step, params };
  const context: ViewContext = {
    source, run: { id: 'r', name: 'first' }, firings: () => Promise.resolve([]), seek: (to) => go({ step: to }), open: () => undefined, link: () => undefined, announce: () => undefined, actionsAllowed: false,
    change: (words) => go({ params: Object.fromEntries(Object.entries({ ...state.params, ...words }).filter((e): e is [string, string] => e[1] !== undefined)) }),
  };
  view = new TensorsView(box, context, state);
}

function go(change: Partial<ViewState>): void {
  state = { ...state, ...change };
  view.update(state);
}

const one = (selector: string): HTMLElement => box.querySelector<HTMLElement>(selector)!;
const rows = (): string[] => [...box.querySelectorAll('.tn-rows .tn-name')].map((row) => row.textContent ?? '');

beforeEach(() => {
  source = new FakeSource();
  box = document.createElement('div');
  document.body.append(box);
});
afterEach(() => {
  view.destroy();
  box.remove();
});

describe('the list of tensors', () => {
  it('is a tree, with the newest numbers, and takes names for texts', async () => {
    mount();
    await vi.waitFor(() => expect(rows()).toEqual(['▾conv 1', 'weight', '▾evil 1', '<img src=x onerror=alert(1)>\\u{202e}', 'tokens']));
    expect(box.querySelector('img')).toBeNull();
    await vi.waitFor(() => expect(one('[data-tensor="conv.weight"]').textContent).toContain('1.25'));
    expect(one('[data-tensor="conv.weight"]').textContent).toContain('25 %'); // zeros
    expect(box.querySelector('strong.bad')?.textContent).toBe('1');
  });

  it('leaves a row where it is while a pointer is down on it, so that it is clicked', async () => {
    mount();
    await vi.waitFor(() => expect(one('[data-tensor="conv.weight"]').textContent).toContain('1.25'));
    const row = one('[data-tensor="conv.weight"]');
    row.dispatchEvent(new Event('pointerdown', { bubbles: true }));
    go({ step: 10 });
    await new Promise((done) => setTimeout(done, 20));
    expect(row.isConnected).toBe(true);
    dispatchEvent(new Event('pointerup'));
    await vi.waitFor(() => expect(row.isConnected).toBe(false));
  });

  it('finds, groups and opens; all of it in the link', async () => {
    mount({ q: '/^conv|tok/' });
    await vi.waitFor(() => expect(one('.tn-summary').textContent).toBe('2 of 3 tensors'));
    one('[data-grouping="collection"]').click();
    expect(state.params['by']).toBe('collection');
    expect(rows()).toEqual(['▾in no collection 1', 'tokens', '▾weights 1', 'conv.weight']);
    const grid = one('[role="treegrid"]');
    for (const key of ['End', 'Enter']) grid.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    expect(state.params['tensor']).toBe('conv.weight');
    await vi.waitFor(() => expect(one('.tn-detail h2').textContent).toBe('conv.weight'));
    grid.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp', bubbles: true, cancelable: true }));
    grid.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true, cancelable: true }));
    expect(rows()).toEqual(['▾in no collection 1', 'tokens', '▸weights 1']);
  });

  it('can be sorted by numbers: the one with NaN comes first', async () => {
    mount({ sort: 'nan' });
    await vi.waitFor(() => expect(rows()).toEqual(['tokens', NAMES[1]!.replace('\u202e', '\\u{202e}'), 'conv.weight']));
    const select = one('select[data-choice="order"]') as HTMLSelectElement;
    expect(select.value).toBe('nan');
    select.value = 'elements';
    select.dispatchEvent(new Event('change'));
    expect(state.params['sort']).toBe('elements');
    expect(rows()[0]).toBe('conv.weight');
  });

  it('says when there is no such tensor', async () => {
    mount({ tensor: 'absent' });
    await vi.waitFor(() => expect(one('[role="alert"]').textContent).toContain('no tensor "absent"'));
  });
});

describe('one tensor', () => {
  it('has its statistics at the cursor, and all of them exactly', async () => {
    mount({ tensor: 'conv.weight' }, 14);
    await vi.waitFor(() => expect(box.querySelectorAll('.tn-chart').length).toBe(5));
    expect(one('.tn-chart').getAttribute('aria-label')).toContain('Mean: 3.333 at step 10');
    const current = [...box.querySelectorAll('tr[aria-current] td')].map((cell) => cell.textContent);
    expect(current).toEqual(['36', '2', '9', String(10 / 3), '0.5', '0', '10']);
    expect(box.dataset['step']).toBe('10');
    const csv = await view.snapshot('csv');
    expect(await csv!.data.text()).toContain(`10,36,2,9,${10 / 3},0.5,0,10`);
    expect(await (await view.snapshot('svg'))!.data.text()).toContain('<title>Statistics of conv.weight</title>');
  });

  it('shows the stored bits under the cursor, at the newest step at or before that of the page', async () => {
    mount({ tensor: 'conv.weight', tab: 'values', at: '2,0,0' }, 15);
    await vi.waitFor(() => expect(one('[data-readout]').textContent).toBe(`[2, 0, 0] = 11.8  (float32, 0x413ccccd, step 10)`));
    const grid = one('.tn-grid');
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight']) grid.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    const text = one('[data-readout]').textContent!;
    expect(text).toContain('[2, 1, 2] = ');
    expect(Math.fround(Number(text.split(' = ')[1]!.split(' ')[0]))).toBe(element(10, 18 + 5));
    go({ step: null });
    await vi.waitFor(() => expect(one('[data-readout]').textContent).toContain('step 20'));
  });

  it('reaches every element of a long tensor, and asks for what is in sight only', async () => {
    source.shape = [100_000_001];
    mount({ tensor: 'conv.weight', tab: 'values', cell: '99999999,0' });
    await vi.waitFor(() => expect(one('[data-readout]').textContent).toContain('[99999999] = 99999999 '));
    const grid = one('.tn-grid');
    const press = (key: string) => grid.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown']) press(key);
    await vi.waitFor(() => expect(one('[data-readout]').textContent).toContain('[100000000] = 100000000 '));
    press('PageUp');
    await vi.waitFor(() => expect(one('[data-readout]').textContent).toMatch(/^\[9999998\d\] = 9999998\d /));
    expect(source.asked.filter((address) => address.includes('/value')).length).toBeLessThan(4);
  });

  it('compares with another step: the difference, and both numbers', async () => {
    mount({ tensor: 'conv.weight', tab: 'values', b: '0' }, 10);
    await vi.waitFor(() => expect(one('[data-readout]').textContent).toBe('[0, 0, 0] = 10  (float32, 0x41200000, step 10); step 0: 0; difference 10'));
    go({ params: { ...state.params, b: '5@other' } });
    await vi.waitFor(() => expect(one('[role="alert"]').textContent).toContain('/tensors/'));
  });

  it('follows a run that grows', async () => {
    mount({ tensor: 'conv.weight' });
    await vi.waitFor(() => expect(box.dataset['step']).toBe('20'));
    source.grow();
    await vi.waitFor(() => expect(box.dataset['step']).toBe('30'), 2000);
    go({ step: 20 });
    expect(box.dataset['step']).toBe('20');
  });

  it.each(['numbers', 'pictures'])('asks for nothing and draws nothing (%s) while its records are the same', async (tab) => {
    mount({ tensor: 'conv.weight', tab });
    await vi.waitFor(() => expect(box.dataset['step']).toBe('20'));
    await vi.waitFor(() => expect(one('[data-tensor="conv.weight"]').querySelector('.tn-spark')).not.toBeNull());
    const pane = one('.tn-pane');
    const [asked, drawn, tabs, inside] = [source.asked.length, box.dataset['drawn'], one('[data-tab]'), pane.firstElementChild];
    source.growElsewhere();
    await vi.waitFor(() => expect(source.asked.length).toBeGreaterThan(asked), 2000);
    await new Promise((done) => setTimeout(done, 100));
    expect(source.asked.slice(asked)).toEqual(['/runs/r/tensors']);
    expect([box.dataset['drawn'], one('[data-tab]'), pane.firstElementChild]).toEqual([drawn, tabs, inside]);
    source.grow();
    await vi.waitFor(() => expect(box.dataset['step']).toBe('30'), 2000);
  });

  it('has texts as texts', async () => {
    mount({ tensor: 'tokens' });
    await vi.waitFor(() => expect([...box.querySelectorAll('.tn-pane td')].map((cell) => cell.textContent)).toEqual(['[CLS]', '<b>']));
    one('.tn-detail [data-file=NPY]').click();
    expect(source.files).toEqual([expect.stringContaining('/tensors/id2/steps/20/value?format=npy')]);
  });
});

describe('pictures', () => {
  const column = (step: number, low: number[], high: number[]): PictureColumn => ({
    step, rows: low.length, height: 1, width: 1, fullHeight: 1, fullWidth: 1, pixels: new Uint8Array(low.length),
    low: Float64Array.from(low), high: Float64Array.from(high), nan: new Float64Array(low.length), inf: new Float64Array(low.length),
  });
  const columns = [column(0, [0, -4], [1, 2]), column(10, [-1, NaN], [3, NaN])];

  it('share a scale as asked', () => {
    expect(rangeFor(columns, 0, 1, 'picture', false)).toEqual([-1, 3]);
    expect(rangeFor(columns, 0, 1, 'strip', false)).toEqual([-1, 3]);
    expect(rangeFor(columns, 0, 0, 'picture', true)).toEqual([-1, 1]);
    expect(rangeFor(columns, 1, 1, 'shared', true)).toEqual([-4, 4]);
    expect(rangeFor(columns, 1, 1, 'picture', false)).toBeNull();
  });

  it('come from their own scale to the shared one', () => {
    const places = levels(0, 1, [-1, 3]);
    expect([places[0], places[1], places[255]]).toEqual([NaN, 0.25, 0.5]);
    expect(levels(2, 2, [2, 2])[128]).toBe(0.5);
  });

  it('are painted anew only when their scale or colours have changed', () => {
    const painted: number[][] = [];
    const context = { putImageData: ({ data }: ImageData) => painted.push([...data.slice(0, 4)]) };
    vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(context as never);
    vi.stubGlobal('ImageData', class { readonly data: Uint8ClampedArray; constructor(width: number, height: number) { this.data = new Uint8ClampedArray(4 * width * height); } });
    const small = new SmallPictures();
    const canvas = small.of(columns[0]!, 0, [0, 1], 'gray');
    expect(small.of(columns[0]!, 0, [0, 1], 'gray')).toBe(canvas);
    expect(painted).toHaveLength(1);
    small.of(columns[0]!, 0, [0, 2], 'gray');
    small.of(columns[0]!, 1, [0, 2], 'gray');
    small.of(columns[1]!, 0, [0, 2], 'gray');
    expect(painted).toHaveLength(4);
    expect(painted[0]![3]).toBe(255);
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  });
});

describe('axes', () => {
  it('are guessed of kernels and activations, and taken from the link', () => {
    expect(axesOf([32, 3, 5, 5], {}, true)).toEqual({ over: 0, down: 2, across: 3, at: [0, 0, 0, 0] });
    expect(axesOf([16, 32, 28, 28], {}, true).over).toBe(1);
    expect(axesOf([7], {}, false)).toEqual({ over: null, down: 0, across: null, at: [0] });
    const nhwc = axesOf([2, 8, 8, 3], { over: '3', down: '1', across: '2', at: '1,9,x,0' }, true);
    expect(nhwc).toEqual({ over: 3, down: 1, across: 2, at: [1, 0, 0, 0] });
    expect(sliceOf([2, 8, 8, 3], nhwc, { over: [0, 2] })).toEqual({ slice: '1,:,:,0:2', axes: '3,1,2' });
    expect(indexText(nhwc, 4, 5)).toBe('[1, 4, 5, 0]');
  });
});

describe('histograms', () => {
  const histograms: Histograms = {
    steps: Float64Array.of(0), lower: Float64Array.of(-2, -1, 1, 2), upper: Float64Array.of(-1, -0.5, 2, 4), counts: Float64Array.of(1, 2, 3, 4),
    zeros: Float64Array.of(5), tiny: Float64Array.of(0), nan: Float64Array.of(0), positiveInf: Float64Array.of(0), negativeInf: Float64Array.of(0),
  };
  it('have a column for zero between the signs', () => {
    const columns = columnsOf(histograms);
    expect([columns.count, columns.zero, columns.of(1), columns.of(2)]).toEqual([5, 2, 1, 3]);
    expect(placeOf(histograms, 2)).toBeCloseTo(4);
    expect(placeOf(histograms, Math.SQRT2)).toBeCloseTo(3.5);
    expect(placeOf(histograms, -1)).toBeCloseTo(1);
    expect(placeOf(histograms, 100)).toBeNull();
  });
  it('have columns of equal width on a linear axis, which hold as many elements', () => {
    const axis = linearAxis(histograms);
    expect(axis.row(0).reduce((a, b) => a + b)).toBeCloseTo(15); // 10 in bins, 5 zeros
    expect(axis.limits(0)).toBe('−2 to −1.94');
    const at = (value: number) => axis.row(0)[Math.floor((value + 2) / 0.06)]!;
    expect(at(0.001)).toBeCloseTo(5);
    expect([at(0.5), at(-0.3)]).toEqual([0, 0]);
    expect(at(1.5)).toBeCloseTo(3 * 0.06);
    expect(at(3)).toBeCloseTo((4 * 0.06) / 2);
    expect(axis.ticks(600).map(({ text }) => text)).toEqual(['−2', '0', '2', '4']);
    expect(axis.guides).toEqual([]);
    expect(logAxis(histograms).limits(2)).toBe('zero');
    expect(logAxis(histograms).limits(3)).toBe('1 to 2');
  });
  it('say what becomes of a tensor in a smaller type', () => {
    const e4m3 = LIMITS.find(({ dtype }) => dtype === 'float8_e4m3')!;
    expect(sharesOf(e4m3, [-1024, 2 ** -8, 2 ** -12, 1], [-512, 2 ** -7, 2 ** -11, 2], [1, 1, 1, 1])).toEqual({ over: 0.25, coarse: 0.25, zero: 0.25 });
  });
});

it('colours signed numbers around zero', () => {
  expect(scaleOf(-1, 3)).toMatchObject({ low: -3, high: 3 });
  expect(scaleOf(1, 3)).toMatchObject({ low: 1, high: 3 });
});

it('writes lines of code that hostile names cannot leave', () => {
  const info = { id: '', name: `a"; rm -rf / #'$(x)`, dtype: 'float32', shape: [1], collections: [], workers: [], steps: [], modes: [], forms: { value: [[0, 1, 1]] as [number, number, number][] } };
  const [python, , cli] = copyLines('run 1', info, 7);
  expect(python!.text).toBe(`trainwarden.open("run 1").value("a\\"; rm -rf / #'$(x)", 7)`);
  expect(cli!.text).toBe(`trainwarden value 'run 1' 'a"; rm -rf / #'\\''$(x)' --step 7`);
});
