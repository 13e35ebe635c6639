import { expect, it } from 'vitest';

import { loadCourse } from './course';
import { Arrays, type NdArray } from './safetensors';
import type { Parameters, Source } from './source';

function f64(values: number[]): NdArray {
  const data = Float64Array.from(values);
  return { dtype: 'F64', shape: [values.length], bytes: new Uint8Array(data.buffer), values: () => data };
}

function sourceOf(answers: Arrays[], asked: (Parameters | undefined)[] = []): Source {
  return {
    arrays: async (_: string, parameters?: Parameters) => {
      asked.push(parameters);
      return answers.shift()!;
    },
  } as unknown as Source;
}

function answer(form: string, left: number, arrays: Record<string, number[]>): Arrays {
  const named = Object.entries(arrays).map(([name, values]): [string, NdArray] => [`0.${name}`, f64(values)]);
  return new Arrays(new Map(named), { series: JSON.stringify([{ form, left }]) });
}

it('is asked for until all of it was read', async () => {
  const asked: (Parameters | undefined)[] = [];
  const answers = [answer('points', 7, { step: [0], value: [1] }), answer('points', 0, { step: [0, 5], value: [1, NaN] })];
  const course = await loadCourse(sourceOf(answers, asked), { run: 'aa', tensor: 'tt', of: 'abs_mean', to: 9 });
  expect([Array.from(course.steps), Array.from(course.values)]).toEqual([[0, 5], [1, NaN]]);
  expect(course.holes).toEqual([5]);
  expect(asked).toEqual(Array(2).fill({ tensors: 'tt', of: 'abs_mean', to: 9 }));
});

it('goes up and down the extremes of buckets', async () => {
  const course = await loadCourse(sourceOf([answer('buckets', 0, { step: [0, 10], min: [1, 2], max: [5, 2], nan: [0, 3], positive_inf: [0, 0], negative_inf: [0, 0] })]), { run: 'aa', tensor: 'tt' });
  expect([Array.from(course.steps), Array.from(course.values)]).toEqual([[0, 0, 10, 10], [1, 5, 2, 2]]);
  expect(course.holes).toEqual([10]);
});
