// Course: one number of a tensor over steps, as a line is drawn: in points, or up and down the extremes of each bucket.
import type { Arrays } from './safetensors';
import type { Source } from './source';

export interface Course {
  steps: ArrayLike<number>;
  values: ArrayLike<number>;
  /** Steps with a NaN or an infinity; of buckets their first steps. */
  holes?: readonly number[];
}

export interface CourseQuestion {
  run: string;
  tensor: string;
  /** A reduction's name; without it the most useful number of the tensor. */
  of?: string;
  worker?: string;
  from?: number;
  to?: number;
  buckets?: number;
}

interface SeriesWords {
  form: 'points' | 'buckets';
  left: number;
}

const MOST_ROUNDS = 20; // of a second each that the server reads

function courseIn(arrays: Arrays, form: SeriesWords['form']): Course {
  const steps = arrays.f64('0.step');
  if (form === 'points') {
    const values = arrays.f64('0.value');
    return { steps, values, holes: [...steps].filter((_, i) => !Number.isFinite(values[i]!)) };
  }
  const [low, high] = [arrays.f64('0.min'), arrays.f64('0.max')];
  const lost = ['nan', 'positive_inf', 'negative_inf'].map((name) => arrays.f64(`0.${name}`));
  const holes = [...steps].filter((_, i) => lost.some((counts) => counts[i]! > 0));
  const line: Course = { steps: new Float64Array(2 * steps.length), values: new Float64Array(2 * steps.length), holes };
  steps.forEach((step, i) => {
    (line.steps as Float64Array).set([step, step], 2 * i);
    (line.values as Float64Array).set([low[i]!, high[i]!], 2 * i);
  });
  return line;
}

/** Throws SourceError. Asks again while the server has not read all of it. */
export async function loadCourse(source: Source, { run, tensor, ...rest }: CourseQuestion): Promise<Course> {
  for (let round = 1; ; ++round) {
    const arrays = await source.arrays(`/runs/${run}/series`, { tensors: tensor, ...rest });
    const [series] = arrays.json<SeriesWords[]>('series') ?? [];
    if (!series) throw new Error('the answer has no series');
    if (series.left === 0 || round === MOST_ROUNDS) return courseIn(arrays, series.form);
  }
}
