import { describe, expect, it } from 'vitest';

import { Arrays, type NdArray } from '../../data/safetensors';
import { placeOf, places, startOf, stepAt } from './axis';
import { choose, MOST_SHOWN, type Choice } from './choice';
import { csvRows, svg } from './exports';
import { legendOf, tableOf } from './legend';
import { stillReading, unreadOutput } from './reading';
import { seriesOf, smoothed, valueAt, type Series, type SeriesWords } from '../series';
import { wordsOf } from './words';

function column(values: number[]): NdArray {
  const array = Float64Array.from(values);
  return { dtype: 'F64', shape: [values.length], bytes: new Uint8Array(array.buffer), values: () => array };
}

const words: SeriesWords = { id: 'ab', name: 'loss', of: 'scalar', worker: 'rank-00000', form: 'points', count: 4, first_step: 0, last_step: 30, min: 1, max: 5, last: 1, nan: 1, positive_inf: 0, negative_inf: 0, left: 0, unreadable: 0 };

function answer(list: SeriesWords[], columns: Record<string, number[]>): Arrays {
  return new Arrays(new Map(Object.entries(columns).map(([name, values]) => [name, column(values)])), { series: JSON.stringify(list) });
}

const points = () =>
  seriesOf(answer([words], { '0.step': [0, 10, 20, 30], '0.time': [100, 101, 102, 103], '0.value': [5, NaN, 2, 1] }))[0]!;

describe('series', () => {
  it('of points keep what is not finite as marks', () => {
    const series = points();
    expect([...series.value]).toEqual([5, NaN, 2, 1]);
    expect(series.oddities).toEqual([{ step: 10, time: 101, kind: 'nan', count: 1 }]);
    expect([valueAt(series, -1), valueAt(series, 0), valueAt(series, 25), valueAt(series, 99)]).toEqual([undefined, 5, 2, 1]);
  });

  it('of buckets draw the least and the largest of each', () => {
    const columns = { step: [0, 50], last_step: [49, 99], time: [1, 2], last_time: [1.5, 2.5], min: [1, -7], max: [9, 8], first: [2, 5], last: [3, 4], count: [50, 50], nan: [0, 3], positive_inf: [0, 0], negative_inf: [1, 0] };
    const prefixed = Object.fromEntries(Object.entries(columns).map(([name, values]) => [`0.${name}`, values]));
    const [series] = seriesOf(answer([{ ...words, form: 'buckets' }], prefixed));
    expect([...series!.step]).toEqual([0, 49, 50, 99]);
    expect([...series!.value]).toEqual([1, 9, 8, -7]);
    expect(series!.oddities.map(({ kind, count, step }) => [kind, count, step])).toEqual([['nan', 3, 50], ['negative_inf', 1, 0]]);
  });

  it('are smoothed without a pull to zero, around what is no number', () => {
    expect([...smoothed([4, 4, NaN, 4], 0.9)].map((x) => Math.round(x * 1e9) / 1e9)).toEqual([4, 4, NaN, 4]);
    expect([...smoothed([0, 10], 0.5)][1]).toBeCloseTo(10 / 1.5);
    expect([...smoothed([1, 2, 3], 0)]).toEqual([1, 2, 3]);
  });
});

describe('what is still being read', () => {
  const seriesWith = (left: number, last_step: number): Series => ({ words: { ...words, left, last_step }, step: new Float64Array(), time: new Float64Array(), value: new Float64Array(), oddities: [] });

  it('is said, and up to where the lines go', () => {
    expect(stillReading([seriesWith(0, 900)])).toBe('');
    expect(stillReading([seriesWith(0, 900), seriesWith(40, 300), seriesWith(7, 500)])).toBe('2 of 3 series are still being read, the slowest up to step 300: what is missing is not drawn. ');
    expect(stillReading([seriesWith(40, -1)])).toBe('1 of 1 series are still being read, nothing of the slowest: what is missing is not drawn. ');
  });
});

describe('what a program printed', () => {
  const choice = (name: string, ...collections: string[]): Choice => ({ id: name, name, collections });

  it('is shown first where it is called a loss, and before other scalars', () => {
    const printed = [choice('loss', 'metrics'), choice('accuracy', 'metrics'), choice('val_loss', 'metrics')];
    expect(choose([choice('seconds', 'scalars'), ...printed], '', []).shown.map(({ name }) => name)).toEqual(['loss', 'val_loss']);
    expect(choose([choice('seconds', 'scalars'), choice('accuracy', 'metrics')], '', []).shown.map(({ name }) => name)).toEqual(['accuracy']);
    expect(choose(printed, 'metrics', []).all).toBe(3);
  });

  it('says what of it could not be read', () => {
    const output = { cut_records: 2, lost_values: 0, metrics: [{ name: 'acc', parse_errors: 3, first_unreadable: 'n/a', given_up: 0 }] };
    expect(unreadOutput(output)).toBe('3 matches of acc in the output are no number, the first “n/a”. Of 2 lines of the output only the beginning was read. ');
    expect(unreadOutput(null)).toBe('');
  });

  it('says that its steps are counted', () => {
    const events = { hide: () => undefined, pin: () => undefined };
    const series = { ...points(), words: { ...words, counted: true } };
    expect(legendOf([series], false, new Set(), [], null, events).textContent).toContain('counted: its output names no steps');
    expect(legendOf([points()], false, new Set(), [], null, events).textContent).not.toContain('counted');
  });
});

describe('the axis', () => {
  it('goes from steps to places and back', () => {
    const all = [points()];
    const start = startOf(all);
    expect(start).toBe(100);
    expect([...places(all[0]!, 'relative', start)]).toEqual([0, 1, 2, 3]);
    expect(stepAt(all, 'relative', start, 1.9)).toBe(20);
    expect(stepAt(all, 'step', start, -5)).toBe(0);
    expect(placeOf(all, 'time', start, 25)).toBe(102);
    expect(stepAt([], 'step', Infinity, 3)).toBeUndefined();
  });
});

describe('choose', () => {
  const choices: Choice[] = Array.from({ length: 40 }, (_, i) => ({ id: String(i), name: `layer.${i}.weight`, collections: i === 3 ? ['losses'] : ['weights'] }));

  it('shows losses at first, what is searched then, and says how many there are', () => {
    expect(choose(choices, '', []).shown.map(({ id }) => id)).toEqual(['3']);
    const found = choose(choices, 'layer\\.1\\d', ['layer.3.weight']);
    expect(found.shown.map(({ id }) => id)).toEqual(['3', '10', '11', '12', '13', '14', '15', '16', '17', '18', '19']);
    expect(choose(choices, 'weights', []).shown.length).toBe(MOST_SHOWN);
    expect(choose(choices, 'weights', []).all).toBe(39);
    expect(choose(choices, 'layer.(', []).fault).toBeTruthy();
  });

  it('shows losses without scalars at first, scalars where there are none, and counts the others', () => {
    const scalar: Choice = { id: '40', name: 'total_flos', collections: ['scalars'] };
    expect(choose([...choices, scalar], '', [])).toMatchObject({ shown: [{ id: '3' }], all: 1, others: 40 });
    expect(choose([scalar, choices[0]!], '', [])).toMatchObject({ shown: [{ id: '40' }], others: 1 });
    expect(choose([choices[0]!], '', [])).toMatchObject({ shown: [{ id: '0' }], others: 0 });
  });
});

describe('what is shown', () => {
  it('shows each number exactly in the table', () => {
    const table = tableOf([points()], 100);
    expect([...table.querySelectorAll('tbody tr')].map((row) => row.textContent)).toEqual(['301', '202', '10NaN', '05']);
  });

  it('has a name from a run as a text', () => {
    const series = points();
    series.words.name = '<img src=x>\u202e';
    const legend = legendOf([series], false, new Set(), [], 20, { hide() {}, pin() {} });
    expect(legend.querySelector('img')).toBeNull();
    expect(legend.textContent).toContain('\\u{202e}');
    expect(legend.querySelector('[data-test="here"]')!.textContent).toBe('2');
    words.name = 'loss';
  });

  it('is written as CSV and SVG', async () => {
    expect(csvRows('r', [points()]).slice(1)).toEqual([
      ['r', 'loss', 'scalar', 0, 100, '5'], ['r', 'loss', 'scalar', 10, 101, 'nan'], ['r', 'loss', 'scalar', 20, 102, '2'], ['r', 'loss', 'scalar', 30, 103, '1'],
    ]);
    const text = await svg('run', [points()], 'linear').data.text();
    expect(text).toContain('>✕<');
    expect(text.match(/M[\d. ]+/g)!.length).toBeGreaterThanOrEqual(2); // the line breaks at NaN
  });

  it('follows from the words of the link', () => {
    expect(wordsOf({ y: 'log', x: 'time', smooth: '0.6', from: '3', pin: 'a\nb', table: '1' })).toMatchObject({ y: 'log', axis: 'time', smooth: 0.6, from: 3, to: undefined, pins: ['a', 'b'], table: true });
    expect(wordsOf({ y: 'cubic', smooth: '7', from: 'x' })).toMatchObject({ y: 'linear', smooth: 0.99, from: undefined });
  });
});
