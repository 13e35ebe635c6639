// What is worked out before anything is drawn.
import { describe, expect, it } from 'vitest';

import type { Timeline } from './api';
import { heatRows, layoutHeat } from './heat_map_layout';
import { lanesOf, lineName, meanOf, roundTop } from './lanes';
import { bySkew, layoutBars } from './phase_bars';
import { FROM, sampleProfile, sampleSteps, sampleTimeline } from './profile_testing';
import { layoutHistogram } from './step_histogram';
import { StepTimes } from '../../data/step_times';
import { LEFT, RIGHT, TimeAxis, within, zoomed } from './time_axis';
import { cutTimeline, stretchOf } from './time_line_part';
import { knownRuns, layoutTimeLine, linePath, stackedPhases } from './time_line_layout';
import { measured, percent, time, times } from './words';

const theme = { dark: false, ground: '#ffffff', surface: '#fff', text: '#000000', muted: '#555555', line: '#cccccc', accent: '#0b62a4', good: '', warn: '', bad: '#b3261e' };

describe('numbers', () => {
  it('have the unit that fits them', () => {
    expect([0, 0.00002, 0.34, 12.5, 1250, 125_000].map(time)).toEqual(['0 ms', '20 ns', '340 µs', '12.5 ms', '1.25 s', '2 min 5 s']);
    expect([0, 0.0004, 0.034, 0.534, 1].map(percent)).toEqual(['0 %', 'less than 0.1 %', '3.4 %', '53 %', '100 %']);
    expect([measured(1.5 * 2 ** 20, 'bytes/s'), measured(34.2, '%'), measured(210, 'watts'), measured(2.41, 'processors'), measured(null, '%')]).toEqual(['1.50 MiB/s', '34 %', '210 W', '2.41 processors', '–']);
    expect([times(1.93), times(1.034), times(12.4)]).toEqual(['1.9 ×', '1.03 ×', '12 ×']);
  });
});

describe('bars of phases', () => {
  it('fill the width by their shares, the slowest worker first', () => {
    const workers = bySkew(sampleProfile().workers);
    expect(workers.map(({ worker }) => worker)).toEqual(['rank-00001', 'rank-00000']);
    const rects = layoutBars(workers, 1000, theme).shapes.filter((shape) => shape.kind === 'rect');
    const ends = rects.map((shape) => shape.x + shape.width);
    expect(Math.max(...ends)).toBeGreaterThan(997);
    expect(Math.max(...ends)).toBeLessThanOrEqual(1000);
    expect(rects[0]!.title).toBe('data wait: 56 %, 62.7 ms a step');
  });

  it('are as long as the steps', () => {
    const shapes = layoutBars(bySkew(sampleProfile().workers), 1000, theme).shapes.filter((shape) => shape.kind === 'rect');
    const second = shapes.filter(({ y }) => y > 30).map(({ x, width }) => x + width);
    expect((Math.max(...second) - 170) / 830).toBeCloseTo(98 / 112, 2);
  });
});

describe('the time line', () => {
  it('has a place for each time, and a time for each place', () => {
    const axis = new TimeAxis({ from: FROM, to: FROM + 1000 }, 644);
    expect(axis.x(FROM)).toBe(LEFT);
    expect(axis.x(FROM + 1000)).toBe(644 - RIGHT);
    expect(axis.time(axis.x(FROM + 250))).toBeCloseTo(FROM + 250, 3);
    expect(axis.time(0)).toBe(FROM);
    expect(axis.ticks().length).toBeGreaterThan(2);
    expect(axis.ticks().length).toBeLessThan(7);
  });

  it('zooms around a place and stays within the whole', () => {
    expect(zoomed({ from: 0, to: 100 }, 2, 50)).toEqual({ from: 25, to: 75 });
    expect(within({ from: -50, to: 50 }, { from: 0, to: 400 })).toEqual({ from: 0, to: 100 });
    expect(within({ from: 399.9, to: 400 }, { from: 0, to: 400 })).toEqual({ from: 390, to: 400 });
    expect(stretchOf({ from: '5', to: '9' })).toEqual({ from: 5, to: 9 });
    expect([stretchOf({}), stretchOf({ from: '9', to: '5' }), stretchOf({ from: 'x', to: '5' })]).toEqual([null, null, null]);
  });

  it('stacks what is known of all workers on average, and leaves gaps where nothing is', () => {
    const lines = [{ worker: 'a', phase: 'forward', values: [1, 0.5, null] }, { worker: 'b', phase: 'forward', values: [0.5, null, null] }, { worker: 'b', phase: 'rest', values: [0.5, null, null] }];
    expect(stackedPhases(lines, undefined, 3)).toEqual([{ phase: 'forward', values: [0.75, 0.5, null] }, { phase: 'rest', values: [0.25, 0, null] }]);
    expect(stackedPhases(lines, 'b', 3)[0]!.values).toEqual([0.5, null, null]);
    expect(knownRuns(5, (i) => i !== 2)).toEqual([[0, 2], [3, 5]]);
  });

  it('breaks a line where a value is missing, and never draws it as 0', () => {
    expect(linePath([1, 2, null, null, 3], (i) => 10 * i, (v) => v)).toBe('M5 1L15 2M41.5 3H48.5');
    expect(linePath([1, null, 2, null, 3, null, null, null, null, null, 4, null, 5], (i) => 10 * i, (v) => v)).toBe('M5 1L25 2L45 3M105 4L125 5');
    expect(linePath([null, null], (i) => i, (v) => v)).toBe('');
  });

  it('has lanes of what was sampled, with scales that end at round numbers', () => {
    const lanes = lanesOf(sampleTimeline().system);
    expect(lanes.map(({ id }) => id)).toEqual(['cpu', 'gpu', 'memory', 'training_memory', 'disk', 'network', 'training_cpu']);
    expect(lanes.find(({ id }) => id === 'disk')!.top).toBe(2 ** 29);
    expect([roundTop(3, 'threads'), roundTop(0.21, 'x'), roundTop(55, '%'), roundTop(0, 'bytes')]).toEqual([5, 0.5, 100, 1]);
    expect(lineName({ label: 'read from disk', part: 'sda', instance: 'box' }, true)).toBe('read from disk sda on box');
    expect(meanOf([null, 2, 4])).toBe(3);
    expect(meanOf([null])).toBeNull();
  });

  it('is laid out without a document', () => {
    const timeline = sampleTimeline();
    const axis = new TimeAxis({ from: timeline.from_unix_ms, to: timeline.to_unix_ms }, 900);
    const layout = layoutTimeLine(timeline, stackedPhases(timeline.phases, undefined, timeline.buckets), lanesOf(timeline.system), axis, theme);
    expect(layout.title).toMatch(/^Time line\. Phases on average: data wait \d\d %/);
    const numbers = layout.shapes.flatMap((shape) => (shape.kind === 'path' ? (shape.d.match(/NaN|Infinity|undefined/g) ?? []) : []));
    expect(numbers).toEqual([]);
  });

  it('is cut where nobody can be asked for finer buckets', () => {
    const timeline: Timeline = { from_unix_ms: 0, to_unix_ms: 100, buckets: 10, phases: [], system: [{ kind: 'cpu', label: '', unit: '%', instance: '', part: '', values: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] }] };
    const cut = cutTimeline(timeline, { from: 21, to: 39 });
    expect([cut.from_unix_ms, cut.to_unix_ms, cut.buckets, cut.system[0]!.values]).toEqual([20, 40, 2, [2, 3]]);
  });
});

describe('the heat map', () => {
  it('has GPUs first, then processors by number', () => {
    const rows = heatRows(sampleTimeline());
    expect(rows.map(({ name }) => name).slice(0, 3)).toEqual(['GPU gpu0', 'processor 0', 'processor 1']);
    const many = { ...sampleTimeline(), system: ['10', '2'].map((part) => ({ kind: 'core', label: '', unit: '%', instance: 'a', part, values: [1] })) };
    expect(heatRows(many).map(({ name }) => name)).toEqual(['processor 2', 'processor 10']);
  });

  it('fits 256 processors on the screen', () => {
    expect(layoutHeat(256).height).toBeLessThan(800);
    expect(layoutHeat(8)).toEqual({ rowHigh: 18, height: 144, nameEvery: 1 });
  });
});

describe('steps', () => {
  it('lead to times and back, on one worker', () => {
    const times = StepTimes.of(sampleSteps(10));
    expect([...times.steps]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(times.worker).toBe('rank-00000');
    expect(times.stepAt(FROM + 350)).toBe(3);
    expect(times.stepAt(FROM - 1)).toBeUndefined();
    expect(times.timeOf(3)).toBeGreaterThan(FROM + 390);
    expect(StepTimes.none.stepAt(5)).toBeUndefined();
  });

  it('have a bar for each bucket, and one that is seen for a single step', () => {
    const { steps } = sampleProfile();
    const layout = layoutHistogram({ ...steps, histogram: { edges_ms: [0, 1, 2, 3], counts: [1000, 0, 1] } }, 500, theme);
    const bars = layout.shapes.filter((shape) => shape.kind === 'rect');
    expect(bars.map(({ height }) => height)).toEqual([130, 1.5]);
    expect(layout.title).toContain('median 98 ms');
  });
});
