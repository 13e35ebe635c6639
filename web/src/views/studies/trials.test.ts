import { describe, expect, it } from 'vitest';

import { parseBrushes } from '../../draw/brush';
import { searched } from '../value_rows';
import type { StudyAnswer, TrialRow } from './api';
import { axesOf, brushed } from './axes_part';
import { contourParameters, surfaceAxis, surfacePoints } from './contour_part';
import { curvesOf } from './curves_part';
import { edfOfTrials } from './edf_part';
import { frontStairs } from './front_part';
import { timeLanes, unitOfTime } from './time_lanes';
import { isLive, metricScale, objectivesOf, parameterNumber, parameterScale, ranksOf, runningBest, trialOf, trialWords } from './trials';

const trial = (number: number, more: Partial<TrialRow> = {}): TrialRow => ({
  number, state: 'complete', values: {}, metrics: {}, series: {}, sampler: 'tpe', worker: 'w', job: '', attempts: 1,
  suggested_unix_ns: 0, started_unix_ns: 0, ended_unix_ns: 0, seconds: 1, why: '', run: null, ...more,
});

const scored = (...accuracies: (number | string)[]) => accuracies.map((accuracy, i) => trial(i, { metrics: { accuracy } }));

const answer = (trials: TrialRow[]): StudyAnswer => ({
  study: 'mine', made_unix_ns: 0, state: 'running', damaged: 0, from: 0, count: trials.length, cut: false, trials,
  outcome: { has_target: true, is_met: false, best: null, is_feasible: false, front: [], sentence: '' },
  counts: { waiting: 0, running: 0, paused: 0, complete: trials.length, pruned: 0, failed: 0 },
  spec: { sampler: 'tpe', parameters: { lr: { kind: 'real', min: 1e-4, max: 1, log: true }, size: { kind: 'choice', choices: [16, '16', true] } },
    metrics: { accuracy: { goal: 'maximize', strategy: 'optimize', threshold: 0.9 }, size: { goal: 'minimize', strategy: 'store' } } },
});

describe('a trial', () => {
  it('has its values and metrics under names of their own', () => {
    const one = trialOf(trial(3, { state: 'pruned', values: { size: 16, fast: true }, metrics: { size: 2, accuracy: 'NaN' } }));
    expect([...one.measured]).toEqual([['size', 16], ['fast', 'true'], ['metric size', 2], ['accuracy', NaN]]);
    expect(searched([one], 'state=pruned size=16')).toHaveLength(1);
    expect(searched([one], 'trial>3')).toHaveLength(0);
  });
  it('has no time of its own where the study measures one of that name', () => {
    expect(trialOf(trial(3, { seconds: 9 })).values.get('seconds')).toBe(9);
    expect(trialOf(trial(3, { seconds: 9, metrics: { seconds: 2 } })).values.get('seconds')).toBe(2);
    expect(trialOf(trial(3, { seconds: 9 }), new Set(['seconds'])).values.get('seconds')).toBeUndefined();
  });
  it('is told in words, the metric that is looked at first', () => {
    expect(trialWords(trial(3, { metrics: { a: 1, b: 0.12345 }, values: { lr: 1e-5 } }), 'b')).toBe('Trial 3, complete: b 0.1235, a 1, lr 1e-5');
    expect(trialWords(trial(4, { state: 'failed' }))).toBe('Trial 4, failed');
  });
});

describe('objectives', () => {
  it('are what is optimized, else all that is measured', () => {
    const { spec } = answer([]);
    expect(objectivesOf(spec)).toEqual(['accuracy']);
    expect(objectivesOf({ ...spec, metrics: { size: spec.metrics['size']! } })).toEqual(['size']);
  });
  it('have a running best of complete trials alone', () => {
    const rows = [...scored(0.5, 0.4, 'NaN', 0.7), trial(4, { state: 'pruned', metrics: { accuracy: 0.9 } })];
    expect(runningBest(rows, 'accuracy', { accuracy: { goal: 'maximize', strategy: 'optimize' } })).toEqual([[0, 0.5], [3, 0.7]]);
    expect(runningBest(rows, 'accuracy', { accuracy: { goal: 'minimize', strategy: 'optimize' } })).toEqual([[0, 0.5], [1, 0.4]]);
  });
  it('have a running best of what keeps to the constraints alone', () => {
    const metrics = { time: { goal: 'minimize', strategy: 'optimize' }, f1: { goal: 'maximize', strategy: 'constrain', threshold: 12 } } as const;
    const rows = [[90, 12], [50, 11.9], [80, 'NaN'], [70, 13]].map(([time, f1], i) => trial(i, { metrics: { time: time!, f1: f1! } }));
    expect(runningBest(rows, 'time', metrics)).toEqual([[0, 90], [3, 70]]);
  });
  it('rank trials from the worst to the best', () => {
    expect([...ranksOf(scored(0.5, 0.7, 'NaN', 0.5), 'accuracy', 'maximize')].sort()).toEqual([[0, 0], [1, 1], [3, 0]]);
    expect(ranksOf(scored(0.5, 0.7), 'accuracy', 'minimize').get(0)).toBe(1);
    expect(ranksOf(scored(0.5), 'accuracy', 'minimize').get(0)).toBe(1);
  });
  it('have an axis that reaches the threshold', () => {
    expect(metricScale(scored(0.1, 0.5), 'accuracy', answer([]).spec.metrics['accuracy'], false).place(0.9)).toBe(1);
  });
  it('make stairs of the front from the best of the first one on', () => {
    expect(frontStairs([[1, 5], [3, 2], [2, 4]], 'minimize')).toEqual([[1, 5], [2, 4], [3, 2]]);
    expect(frontStairs([[1, 1], [3, 4], [2, 2]], 'maximize')).toEqual([[3, 4], [2, 2], [1, 1]]);
  });
});

describe('parameters', () => {
  const { lr, size } = answer([]).spec.parameters;
  it('are numbers, choices by their index, each of its own kind', () => {
    expect([16, '16', true, 8, undefined].map((value) => parameterNumber(size!, value))).toEqual([0, 1, 2, NaN, NaN]);
    expect(parameterNumber(lr!, 0.1)).toBe(0.1);
    expect(parameterNumber(lr!, undefined)).toBeNaN();
    expect(parameterScale(lr!).place(0.01)).toBeCloseTo(0.5);
    expect(parameterScale(size!).text(2)).toBe('true');
  });
  it('have an axis each, and so have metrics, also those of the same name', () => {
    expect(axesOf(answer([]), false).map(({ id }) => id)).toEqual(['lr', 'size', 'accuracy', 'metric size']);
  });
  it('leave out trials by their axes', () => {
    const rows = [trial(0, { values: { lr: 0.1, size: 16 } }), trial(1, { values: { lr: 0.001, size: 16 } }), trial(2, { values: { size: true } })];
    const left = (word?: string) => brushed(answer(rows), parseBrushes(word)).map(({ number }) => number);
    expect(left()).toEqual([0, 1, 2]);
    expect(left('lr~0.01~1')).toEqual([0]);
    expect(left('size~-0.5~0.5')).toEqual([0, 1]);
    expect(left('nobody~0~1')).toEqual([0, 1, 2]);
  });
});

describe('contours', () => {
  const names = ['a', 'b', 'c'];
  it('are over the parameters of the link, else over the most important ones', () => {
    expect(contourParameters(names, [])).toEqual(['a', 'b']);
    expect(contourParameters(names, ['c', 'gone', 'b'])).toEqual(['c', 'b']);
    expect(contourParameters(names, ['c', 'b'], 'b')).toEqual(['b', 'c']);
    expect(contourParameters(names, [], undefined, 'a')).toEqual(['b', 'a']);
    expect(contourParameters(names, [], 'b', 'b')).toEqual(['b', 'a']);
    expect(contourParameters(names, [], 'nobody', 'c')).toEqual(['a', 'c']);
  });
  it('have a cell for each choice, and places of complete trials alone', () => {
    const { spec } = answer([]);
    expect(surfaceAxis(spec.parameters['size']!)).toEqual({ cells: 3, apart: true });
    expect(surfaceAxis(spec.parameters['lr']!).apart).toBe(false);
    const done = (number: number, accuracy: number | string, more = {}) => trial(number, { values: { lr: 0.01, size: '16' }, metrics: { accuracy }, ...more });
    const rows = [done(0, 0.5), done(1, 0.9), done(2, 0.7, { state: 'pruned' }), done(3, 'NaN'), trial(4, { values: { lr: 1 }, metrics: { accuracy: 0.6 } })];
    const shown = { answer: answer(rows), rows, metric: 'accuracy', ranks: new Map(), log: false, chosen: undefined, params: {}, nowMs: 0 };
    expect(surfacePoints(shown, 'lr', 'size').map(({ x, y, value }) => [x.toFixed(3), y.toFixed(3), value.toFixed(3)])).toEqual([['0.500', '0.500', '0.000'], ['0.500', '0.500', '1.000']]);
  });
});

describe('a distribution', () => {
  it('is of complete trials alone', () => {
    const rows = [...scored(0.5, 'NaN', 0.1), trial(9, { state: 'pruned', metrics: { accuracy: 0.2 } })];
    expect(edfOfTrials(rows, 'accuracy').map(({ of, share }) => [of.number, share])).toEqual([[2, 0.5], [0, 1]]);
  });
});

describe('time', () => {
  const ran = (number: number, worker: string, from: number, to: number) => trial(number, { worker, started_unix_ns: (from + 1000) * 1e6, ended_unix_ns: to > 0 ? (to + 1000) * 1e6 : 0 });
  it('has lanes by worker in which nothing overlaps', () => {
    const { names, placed } = timeLanes([ran(0, 'b', 0, 10), ran(1, 'a', 0, 10), ran(2, 'a', 5, 15), ran(3, 'a', 10, 20), trial(4), ran(5, 'b', 10, 0)], 1030);
    expect(names).toEqual(['a', 'a', 'b']);
    expect(placed.map(({ row, lane, toMs }) => [row.number, lane, toMs - 1000])).toEqual([[1, 0, 10], [2, 1, 15], [3, 0, 20], [0, 2, 10], [5, 2, 30]]);
  });
  it('is told in the unit that fits', () => {
    expect([500, 3000, 150_000, 8e6, 3e8].map((ms) => unitOfTime(ms).unit)).toEqual(['ms', 's', 'min', 'h', 'd']);
  });
  it('has curves of the trials that reported', () => {
    const rows = [trial(0), trial(1, { series: { accuracy: [{ step: 1, value: 0.5 }, { step: 2, value: 'NaN' }] } })];
    expect(curvesOf(rows, 'accuracy').map(({ row, points }) => [row.number, points])).toEqual([[1, [[1, 0.5], [2, NaN]]]]);
  });
  it('goes on while a study does', () => {
    const ended = { ...answer([]), state: 'ended: its 3 trials have been made' };
    expect(isLive(answer([]))).toBe(true);
    expect(isLive(ended)).toBe(false);
    expect(isLive({ ...ended, counts: { ...ended.counts, running: 1 } })).toBe(true);
  });
});
