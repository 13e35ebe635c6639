import { describe, expect, it } from 'vitest';

import { Arrays, type NdArray } from '../../data/safetensors';
import { lineOf, placeOf, places, pointsOf, stepAt, TrainSteps } from './axis';
import { choose, MOST_SHOWN, type Choice } from './choice';
import { csvRows, svg } from './exports';
import { legendOf, tableOf } from './legend';
import { axisWidth, clippedRange, runStyle, stylesOf } from './look';
import { byChoice } from './panel_grid';
import { quantityOf, sectionsOf } from './panels';
import { stillReading, unreadOutput } from './reading';
import { readAt, seriesOf, smoothed, toldApart, type Series, type SeriesWords } from '../series';
import { wordsOf } from './words';

function column(values: number[]): NdArray {
  const array = Float64Array.from(values);
  return { dtype: 'F64', shape: [values.length], bytes: new Uint8Array(array.buffer), values: () => array };
}

const words: SeriesWords = { id: 'ab', name: 'loss', of: 'scalar', worker: 'rank-00000', form: 'points', count: 4, first_step: 0, last_step: 30, min: 1, max: 5, last: 1, newest: 1, nan: 1, positive_inf: 0, negative_inf: 0, left: 0, unreadable: 0 };

function answer(list: SeriesWords[], columns: Record<string, number[]>): Arrays {
  return new Arrays(new Map(Object.entries(columns).map(([name, values]) => [name, column(values)])), { series: JSON.stringify(list) });
}

const bare = { dark: false, hidden: new Set<string>(), pins: [], step: null, colourBy: 'series' } as const;

const points = () =>
  seriesOf(answer([words], { '0.step': [0, 10, 20, 30], '0.time': [100, 101, 102, 103], '0.value': [5, NaN, 2, 1] }))[0]!;

describe('series', () => {
  it('of points keep what is not finite as marks', () => {
    const series = points();
    expect([...series.value]).toEqual([5, NaN, 2, 1]);
    expect(series.oddities).toEqual([{ step: 10, time: 101, kind: 'nan', count: 1 }]);
    expect([readAt(series, -1), readAt(series, 0), readAt(series, 25), readAt(series, 99)]).toEqual([undefined, 5, 2, 1]);
  });

  it('of buckets draw the least and the largest of each', () => {
    const columns = { step: [0, 50], last_step: [49, 99], time: [1, 2], last_time: [1.5, 2.5], min: [1, -7], max: [9, 8], first: [2, 5], last: [3, 4], count: [50, 50], nan: [0, 3], positive_inf: [0, 0], negative_inf: [1, 0] };
    const prefixed = Object.fromEntries(Object.entries(columns).map(([name, values]) => [`0.${name}`, values]));
    const [series] = seriesOf(answer([{ ...words, form: 'buckets' }], prefixed));
    expect([...series!.step]).toEqual([0, 49, 50, 99]);
    expect([...series!.value]).toEqual([1, 9, 8, -7]);
    expect(series!.oddities.map(({ kind, count, step }) => [kind, count, step])).toEqual([['nan', 3, 50], ['negative_inf', 1, 0]]);
    expect(csvRows('r', [series!]).slice(1).map((row) => row.at(-1))).toEqual(Array(4).fill('extreme of several steps')); // not silently
  });

  it('are smoothed without a pull to zero, around what is no number', () => {
    expect([...smoothed([4, 4, NaN, 4], 0.9)].map((x) => Math.round(x * 1e9) / 1e9)).toEqual([4, 4, NaN, 4]);
    expect([...smoothed([0, 10], 0.5)][1]).toBeCloseTo(10 / 1.5);
    expect([...smoothed([1, 2, 3], 0)]).toEqual([1, 2, 3]);
  });
});

describe('what is still being read', () => {
  const seriesWith = (left: number, last_step: number): Series => ({ words: { ...words, left, last_step }, label: 'loss', step: new Float64Array(), time: new Float64Array(), value: new Float64Array(), oddities: [] });

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
    expect(legendOf([series], bare, events).textContent).toContain('counted: its output names no steps');
    expect(legendOf([points()], bare, events).textContent).not.toContain('counted');
  });
});

describe('the axis', () => {
  it('goes from steps to places and back', () => {
    const all = [points()];
    const relative = lineOf('relative', all, null);
    expect(relative.start).toBe(100);
    expect([...places(all[0]!, relative)]).toEqual([0, 1, 2, 3]);
    expect(stepAt(all, relative, 1.9)).toBe(20);
    expect(stepAt(all, lineOf('step', all, null), -5)).toBe(0);
    expect(placeOf(all, lineOf('time', all, null), 25)).toBe(102);
    expect(stepAt([], lineOf('step', [], null), 3)).toBeUndefined();
  });

  it('counts steps as the program does, evaluation between them', () => {
    // Steps 0 to 9 train, 10 to 14 evaluate, 15 to 24 train: train steps 0 to 19.
    const train = new TrainSteps({ modes: [{ mode: 'train', steps: [[0, 1, 10], [15, 1, 10]], mode_steps: [[0, 1, 20]] }, { mode: 'eval', steps: [[10, 1, 5]], mode_steps: [[0, 1, 5]] }] });
    expect(train.differ).toBe(true);
    expect([0, 9, 10, 14, 15, 24, 99].map((step) => train.at(step))).toEqual([0, 9, 9, 9, 10, 19, 19]);
    const all = [points()];
    const line = lineOf('train', all, train);
    expect([...places(all[0]!, line)]).toEqual([0, 9, 15, 19]);
    expect([placeOf(all, line, 14), stepAt(all, line, 16)]).toEqual([9, 20]);
    const evaluated: Series = { ...all[0]!, step: Float64Array.of(10, 11, 12, 20), time: Float64Array.of(1, 2, 3, 4), value: Float64Array.of(4, NaN, 2, 7) };
    expect(pointsOf(evaluated, line)).toEqual({ place: [9, 15], value: Float64Array.of(3, 7) });
    expect([...places({ ...all[0]!, words: { ...words, counted: true } }, line)]).toEqual([0, 10, 20, 30]);
    const alike = new TrainSteps({ modes: [{ mode: 'train', steps: [[0, 2, 5]], mode_steps: [[0, 2, 5]] }] });
    expect([alike.differ, lineOf('train', all, alike).train]).toEqual([false, null]);
    expect(new TrainSteps({ modes: [] }).differ).toBe(false);
  });
});

describe('panels', () => {
  const named = (name: string, ...collections: string[]): Choice => ({ id: name, name, collections });
  const look = (choices: Choice[], search = '', pins: string[] = []) =>
    sectionsOf(choices, search, pins).sections.map(({ title, folded, panels }) => [title, folded, panels.map((panel) => [panel.title, ...panel.choices.map(({ name }) => name)].join(' '))]);

  it('are one for each quantity, losses first, machine and layers folded away', () => {
    const choices = [
      named('phase/forward', 'scalars'), named('phase_count/evaluation', 'scalars'), named('fc.weight', 'weights'), named('gradient/fc.weight', 'gradients'), named('train_accuracy', 'scalars'), named('val_accuracy', 'scalars'),
      named('lr/encoder', 'scalars'), named('lr/head', 'scalars'), named('val_loss', 'metrics'), named('loss', 'losses'), named('total_flos', 'scalars'),
      named('trainwarden/learning_rate/0', 'scalars', 'signals'), named('trainwarden/model', 'signals'),
    ];
    expect(look(choices)).toEqual([
      ['Losses', false, ['loss val_loss loss']],
      ['Metrics', false, ['accuracy train_accuracy val_accuracy', 'total_flos total_flos']],
      ['lr', false, ['lr/encoder lr/encoder', 'lr/head lr/head']],
      ['Pace and learning rate', false, ['learning_rate/0 trainwarden/learning_rate/0']],
      ['Machine and phases of a step', true, ['phase/forward phase/forward', 'phase_count/evaluation phase_count/evaluation']],
      ['Gradients', true, ['gradient/fc.weight gradient/fc.weight']],
      ['Weights', true, ['fc.weight fc.weight']],
    ]);
  });

  it('of XGBoost, LightGBM and Keras pair what trains and what evaluates', () => {
    expect(['train-rmse', 'eval-rmse', 'valid_0-l2', 'training-l2', 'val_loss', 'epoch_mean/loss', 'loss/test', 'test'].map(quantityOf)).toEqual(['rmse', 'rmse', 'l2', 'l2', 'loss', 'epoch_mean/loss', 'loss', 'test']);
  });

  it('are opened by a search, and pinned ones stand first', () => {
    const choices = [named('loss', 'losses'), named('fc.weight', 'weights'), named('bn.weight', 'weights')];
    expect(look(choices, 'bn')).toEqual([['Weights', false, ['bn.weight bn.weight']]]);
    expect(look(choices, '', ['fc.weight']).map(([title]) => title)).toEqual(['Pinned', 'Losses', 'Weights']);
    expect(sectionsOf(choices, 'layer.(', []).fault).toBeTruthy();
  });

  it('of several modes have a series each', () => {
    const list = [{ ...words, mode: 'train' }, { ...words, mode: 'eval' }, { ...words, id: 'cd', name: 'acc', mode: 'eval' }];
    const columns = Object.fromEntries([0, 1, 2].flatMap((i) => ['step', 'time', 'value'].map((name) => [`${i}.${name}`, [1]])));
    const series = toldApart(seriesOf(answer(list, columns)));
    expect(series.map(({ label, words: { id } }) => [label, id])).toEqual([['loss (train)', 'ab.train'], ['loss (eval)', 'ab.eval'], ['acc', 'cd']]);
    expect(byChoice([{ id: 'ab', name: 'loss', collections: [] }], series).get('ab')!.length).toBe(2);
  });

  it('of many runs have a colour for each run and a dash for each series', () => {
    const [train, evaluated] = ['ab.train', 'ab.eval'].map((id): Series => ({ ...points(), words: { ...words, id } }));
    const there = (of: string, place: number): Series => ({ ...points(), words: { ...words, id: `${of}@${place}` }, other: { run: `r${place}`, place, of } });
    const all = [train!, evaluated!, there('ab.train', 1), there('ab.eval', 1), there('ab', 2)];
    const byRun = stylesOf(all, 'run');
    expect(new Set(byRun.map(({ light }) => light)).size).toBe(3);
    expect(byRun.map(({ dash }) => dash.length)).toEqual([0, 2, 0, 2, 0]);
    const many = Array.from({ length: 50 }, (_, place) => JSON.stringify(runStyle(place)));
    expect(new Set(many).size, 'no two of fifty runs look the same').toBe(50);
    const bySeries = stylesOf(all, 'series');
    expect(bySeries.map(({ light }) => light)).toEqual([0, 1, 0, 1, 0].map((i) => bySeries[i]!.light));
    expect(bySeries[2]!.dash).not.toEqual(bySeries[0]!.dash);
  });

  it('can leave out outliers', () => {
    const values = Float64Array.from({ length: 1000 }, (_, i) => (i === 500 ? 1e9 : i / 1000));
    const [low, high] = clippedRange([values])!;
    expect(low).toBeLessThan(0.01);
    expect(high).toBeLessThan(1.2);
    expect(clippedRange([Float64Array.of(NaN)])).toBeNull();
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
    series.label = '<img src=x>\u202e';
    const legend = legendOf([series], { ...bare, step: 20 }, { hide() {}, pin() {} });
    expect(legend.querySelector('img')).toBeNull();
    expect(legend.textContent).toContain('\\u{202e}');
    expect(legend.querySelector('[data-test="here"]')!.textContent).toBe('2');
  });

  it('is written as CSV and SVG', async () => {
    expect(csvRows('r', [points()]).slice(1)).toEqual([
      ['r', 'loss', '', 'scalar', 0, 100, '5', 'value'], ['r', 'loss', '', 'scalar', 10, 101, 'nan', 'value'], ['r', 'loss', '', 'scalar', 20, 102, '2', 'value'], ['r', 'loss', '', 'scalar', 30, 103, '1', 'value'],
    ]);
    const text = await svg('run', [{ title: 'Losses', all: [points()], colourBy: 'series' }], 'linear').data.text();
    expect(text).toContain('Losses of run');
    expect(text).toMatch(/>loss\s*</); // the legend, beside the title
    expect(text).toContain('>✕<');
    expect(text.match(/M[\d. ]+/g)!.length).toBeGreaterThanOrEqual(2); // the line breaks at NaN
  });

  it('follows from the words of the link', () => {
    expect(wordsOf({ y: 'log', x: 'time', smooth: '0.6', from: '3', pin: 'a\nb', table: '1' })).toMatchObject({ y: 'log', axis: 'time', smooth: 0.6, from: 3, to: undefined, pins: ['a', 'b'], table: true });
    expect(wordsOf({ y: 'cubic', smooth: '7', from: 'x' })).toMatchObject({ y: 'linear', smooth: 0.99, from: undefined });
  });
});

describe('labels beside a chart', () => {
  it('have room for the longest one', () => {
    expect(axisWidth(['0', '0.0025'], 52)).toBe(62);
    expect(axisWidth(['0', '5'], 52)).toBe(52);
    expect(axisWidth(null, 70)).toBe(70);
  });
});
