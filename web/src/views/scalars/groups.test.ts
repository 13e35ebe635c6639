import { describe, expect, it } from 'vitest';

import { csvRows } from './exports';
import { commonSteps, fewerAtTheEnd, groupSeries } from './group_mean';
import { groupKeys, groupsOf, type LabelledRun } from '../run_groups';
import { stylesOf } from './look';
import { RunsBar, type RunsBarShown } from './runs_bar';
import { readInWords, type Series, type SeriesWords } from '../series';
import { wordsOf } from './words';

const run = (name: string, labels: Record<string, string> = {}): LabelledRun => ({ name, labels });
const runs = [run('cnn-a-1', { lr: '0.1', seed: '1', data: 'mnist' }), run('cnn-b-2', { lr: '0.01', seed: '2', data: 'mnist' }), run('mlp-a-3', { lr: '0.1', seed: '3', data: 'mnist' }), run('mlp', { data: 'mnist' })];

describe('groups', () => {
  it('are told apart by labels and by parts of names that differ, fewest groups first', () => {
    expect(groupKeys(runs)).toEqual([
      { word: 'label:lr', title: 'lr' }, { word: 'label:seed', title: 'seed' },
      { word: 'part:1', title: 'name, part 1 (cnn, mlp)' }, { word: 'part:2', title: 'name, part 2 (a, b)' }, { word: 'part:3', title: 'name, part 3 (1, 2, 3)' },
    ]);
  });

  it('rise by their value as numbers do, and those without one come last', () => {
    expect(groupsOf(runs, 'label:lr')).toEqual([{ name: 'lr 0.01', runs: ['cnn-b-2'] }, { name: 'lr 0.1', runs: ['cnn-a-1', 'mlp-a-3'] }, { name: 'no lr', runs: ['mlp'] }]);
    expect(groupsOf(runs, 'part:1')!.map(({ name, runs: members }) => [name, members.length])).toEqual([['cnn', 2], ['mlp', 2]]);
  });

  it('are one where all are alike, and none where the link names what nobody has', () => {
    for (const word of [undefined, 'label:nobody', 'part:9', '']) expect(groupsOf(runs, word)).toBeNull();
    expect(groupsOf(runs, 'label:data')).toEqual([{ name: 'data mnist', runs: runs.map(({ name }) => name) }]);
    expect(groupKeys(runs, 'label:data').at(-1)).toEqual({ word: 'label:data', title: 'data' });
  });

  it('stand in the link, and have no axis of time', () => {
    expect(wordsOf({ runs: 'a', group: 'label:lr', spread: 'range', x: 'time' })).toMatchObject({ group: 'label:lr', spread: 'range', axis: 'train' });
    expect(wordsOf({ group: 'label:lr', x: 'time' })).toMatchObject({ group: undefined, axis: 'time' });
  });
});

const words: SeriesWords = { id: 'ab', name: 'loss', of: 'scalar', worker: '', mode: 'train', form: 'points', count: 3, first_step: 0, last_step: 2, min: 0, max: 0, last: 0, newest: 0, nan: 0, positive_inf: 0, negative_inf: 0, left: 0, unreadable: 0 };

function series(steps: number[], values: number[], place: number): Series {
  const of = { run: `r${place}`, place, of: 'ab' };
  const oddities = values.flatMap((value, i) => (Number.isNaN(value) ? [{ step: steps[i]!, time: 0, kind: 'nan' as const, count: 1 }] : []));
  const own = { words: { ...words, nan: oddities.length }, label: 'loss', step: Float64Array.from(steps), time: new Float64Array(steps.length), value: Float64Array.from(values), oddities };
  return place === 0 ? own : { ...own, words: { ...own.words, id: `ab@${place}` }, other: of };
}

const both = [{ name: 'lr 1', runs: ['r0', 'r1'] }];

describe('the mean of a group', () => {
  it('is that of its runs at each step, with the spread that was asked for', () => {
    const [mean] = groupSeries([series([0, 1], [1, 3], 0), series([0, 1], [3, 7], 1)], 'r0', both, 'deviation');
    expect([...mean!.value]).toEqual([2, 5]);
    expect(mean!.band!.low[1]).toBeCloseTo(5 - Math.sqrt(8));
    const [range] = groupSeries([series([0, 1], [1, 3], 0), series([0, 1], [3, 7], 1)], 'r0', both, 'range');
    expect([...range!.band!.low, ...range!.band!.high]).toEqual([1, 3, 3, 7]);
    expect(mean!.other!.run).toBe('lr 1 (2 runs)');
  });

  it('counts runs that have ended no longer, and says so', () => {
    const [mean] = groupSeries([series([0, 2, 4], [1, 3, 5], 0), series([0, 1, 2], [3, 3, 3], 1)], 'r0', both, 'deviation');
    expect([...mean!.step]).toEqual([0, 1, 2, 4]);
    expect([...mean!.value]).toEqual([2, 2.5, 3, 5]); // at step 1 the first run lies between two of its points
    expect([...mean!.band!.runs]).toEqual([2, 2, 2, 1]);
    expect(mean!.band!.low[3]).toBeNaN(); // one run alone spreads nothing
    expect(readInWords(mean!, 4)).toBe('5 · 1 of 2 runs');
    expect(fewerAtTheEnd([mean!])).toContain('Behind step 2 the line of lr 1 (2 runs) is the mean of fewer than 2 runs: ');
  });

  it('leaves out what is not finite, counts it, and keeps its marks', () => {
    const [mean] = groupSeries([series([0, 1], [1, NaN], 0), series([0, 1], [3, 7], 1)], 'r0', both, 'range');
    expect([...mean!.value]).toEqual([2, 7]);
    expect(readInWords(mean!, 1)).toBe('7 · 1 of 2 runs, 1 not finite');
    expect(readInWords(mean!, 0)).toBe('2, 1 to 3 · 2 of 2 runs');
    expect([mean!.oddities.length, mean!.words.nan]).toEqual([1, 1]);
    expect(fewerAtTheEnd([mean!])).toBe('');
  });

  it('uses numbers that were measured where a line has only extremes', () => {
    const buckets = { ...series([0, 9], [-100, 100], 0), measured: { step: Float64Array.of(0, 9), value: Float64Array.of(1, 2) } };
    expect([...groupSeries([buckets], 'r0', both, 'range')[0]!.value]).toEqual([1, 2]);
  });

  it('has no more steps than can be drawn, the last among them', () => {
    const steps = commonSteps([{ step: Float64Array.from({ length: 5000 }, (_, i) => i), value: [] }]);
    expect([steps.length, steps[0], steps.at(-1)]).toEqual([1000, 0, 4999]);
  });

  it('has a colour for each group, and is written as what it is', () => {
    const groups = [{ name: 'a', runs: ['r0'] }, { name: 'b', runs: ['r1'] }];
    const all = groupSeries([series([0], [1], 0), series([0], [3], 1)], 'r0', groups, 'range');
    const styles = stylesOf(all, 'run');
    expect(styles[0]!.light).not.toBe(styles[1]!.light);
    expect(csvRows('r', all).slice(0, 2)).toEqual([['run', 'series', 'mode', 'of', 'step', 'unix_seconds', 'value', 'kind', 'low', 'high'], ['a (1 run)', 'loss', 'train', 'scalar', 0, 0, '1', 'mean of 1 runs', 'NaN', 'NaN']]);
  });
});

describe('the bar of runs', () => {
  it('offers what the runs differ in, and shows groups in place of runs', () => {
    const changes: Record<string, string | undefined>[] = [];
    const pointed: (number | null)[] = [];
    const bar = new RunsBar((params) => changes.push(params), (place) => pointed.push(place));
    const shown: RunsBarShown = { own: 'cnn-a-1', keys: groupKeys(runs), groups: null };
    const state = { runs: 'cnn-b-2\nmlp-a-3' };
    bar.show(shown, wordsOf(state));
    expect([...bar.element.querySelectorAll('li')].map(({ textContent }) => textContent)).toEqual(['cnn-a-1', 'cnn-b-2✕', 'mlp-a-3✕']);
    for (const type of ['pointerenter', 'pointerleave']) bar.element.querySelectorAll('li')[1]!.dispatchEvent(new Event(type));
    expect(pointed, 'its lines stand out while it is pointed at').toEqual([1, null]);
    const select = bar.element.querySelector<HTMLSelectElement>('#scalar-group')!;
    select.value = 'label:lr';
    select.dispatchEvent(new Event('change'));
    bar.element.querySelector('button')!.click();
    expect(changes).toEqual([{ group: 'label:lr' }, { runs: 'mlp-a-3' }]);
    bar.show({ ...shown, groups: groupsOf(runs, 'label:lr') }, wordsOf({ ...state, group: 'label:lr', spread: 'range' }));
    expect([...bar.element.querySelectorAll('li')].map(({ textContent }) => textContent)).toEqual(['lr 0.01 · 1', 'lr 0.1 · 2', 'no lr · 1']);
    expect(bar.element.querySelector<HTMLSelectElement>('#scalar-spread')!.value).toBe('range');
    bar.show(shown, wordsOf({}));
    expect(bar.element.hidden).toBe(true);
  });
});
