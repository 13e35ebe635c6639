import { expect, it } from 'vitest';

import { arrayOf, Arrays } from '../data/safetensors';
import { StepTimes } from '../data/step_times';
import { TimeLine } from './time_line';
import { COLUMN, stripPaths } from './time_strip';

const column = (values: number[]) => arrayOf('F64', [values.length], new Uint8Array(Float64Array.from(values).buffer));

/** Ten steps of a second each, the first at 1,000 ms. */
const times = StepTimes.of(new Arrays(new Map([['step', column([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])], ['worker', column(new Array(10).fill(0))], ['start_unix_ms', column([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((s) => 1000 * s))], ['ms', column(new Array(10).fill(1000))]]), {}));

it('has of each step the phases and processors of its time', () => {
  const timeline = {
    from_unix_ms: 1000, to_unix_ms: 11_000, buckets: 2, system: [{ kind: 'cpu', values: [0, 100] }],
    phases: [{ worker: 'a', phase: 'rest', values: [null, 0.5] }, { worker: 'a', phase: 'forward', values: [null, 0.5] }, { worker: 'b', phase: 'loss', values: [1, 1] }],
  };
  const { phases, processors } = stripPaths(timeline, times, new TimeLine(0, 9, 300), 300, 10, 8);
  expect(phases.map(({ phase }) => phase)).toEqual(['forward', 'rest']); // of one worker, as they are stacked
  const firstOf = (d: string) => Number(/^M(\d+)/.exec(d)![1]);
  expect(firstOf(phases[0]!.d)).toBeGreaterThan(110); // nothing is known of the first half
  expect(phases[0]!.d).toContain(' 5.0h3v5.0h-3z');
  expect(phases[1]!.d).toContain(' 0.0h3v5.0h-3z');
  expect(processors).toMatch(/^M1\.5 19\.0L4\.5 19\.0/);
  expect(processors).toMatch(/L\d+\.5 11\.0$/);
  expect(COLUMN).toBe(3);
});

it('is empty where no step has a time', () => {
  const timeline = { from_unix_ms: 0, to_unix_ms: 1, buckets: 1, system: [{ kind: 'cpu', values: [5] }], phases: [{ worker: 'a', phase: 'rest', values: [1] }] };
  expect(stripPaths(timeline, StepTimes.none, new TimeLine(0, 9, 300), 300, 10, 8)).toEqual({ phases: [], processors: '' });
});
