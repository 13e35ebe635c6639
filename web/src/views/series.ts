// Series as GET /runs/{run}/series sends them.
import type { Arrays } from '../data/safetensors';
import { numberOf, short } from '../draw/numbers';

/** GET /runs/{run}/series/choices: one of them. */
export interface Choice {
  id: string;
  name: string;
  collections: string[];
}

/** Of what a program printed there is only the name to go by. */
export function isLoss(choice: Choice): boolean {
  return choice.collections.includes('losses') || (choice.collections.includes('metrics') && /loss/i.test(choice.name));
}

export interface SeriesWords {
  id: string;
  name: string;
  of: string;
  worker: string;
  /** Null: of all modes. */
  mode?: string | null;
  form: 'points' | 'buckets';
  count: number;
  first_step: number;
  last_step: number;
  min: number | string;
  max: number | string;
  last: number | string;
  /** The last of all, finite or not. */
  newest: number | string;
  nan: number;
  positive_inf: number;
  negative_inf: number;
  left: number;
  unreadable: number;
  /** Its steps are none of the training's: its values are counted, 1, 2, ... */
  counted?: boolean;
}

/** Those that somebody chooses from. */
export const SERIES_NUMBERS: readonly string[] = ['mean', 'std', 'min', 'max', 'l1', 'l2', 'abs_mean', 'abs_max', 'sum', 'variance', 'nan_count', 'inf_count', 'zero_count', 'scalar'];

/** Can it be asked of a tensor over steps? Other quantities are what a rule alone worked out. */
export function isSeriesNumber(quantity: string): boolean {
  return /^(?:(?:abs_)?(?:min|max|mean|std|variance|sum|prod|l1|l2)|(?:nan|inf|zero)_count|scalar)$/.test(quantity);
}

/** The places of NaN and infinities; drawn as marks, never left out. */
export interface Oddity {
  step: number;
  time: number;
  kind: 'nan' | 'positive_inf' | 'negative_inf';
  count: number;
}

/** Ready to be drawn: finite numbers over rising steps, NaN where the line breaks. */
export interface Series {
  words: SeriesWords;
  /** Its tensor's name, and the mode where that has several. */
  label: string;
  step: Float64Array;
  /** Seconds since 1970. */
  time: Float64Array;
  value: Float64Array;
  oddities: Oddity[];
  /** Of buckets: numbers that were measured, at their steps: the first and the last of each. */
  measured?: { step: Float64Array; value: Float64Array };
  /** Of a group of runs, whose mean `value` is. */
  band?: Band;
  /** Of another run: the same as the series `of` of this one. `place`: 1 for the first of the other runs, 2, ... */
  other?: { run: string; place: number; of: string };
}

/** How far the runs of a group lie apart at each step; NaN: they do not. */
export interface Band {
  low: Float64Array;
  high: Float64Array;
  /** That the mean is of, at each step; and those that are there too, but not finite. */
  runs: Uint16Array;
  notFinite: Uint16Array;
  /** In the group. */
  of: number;
}

export function seriesOf(arrays: Arrays): Series[] {
  const list = arrays.json<SeriesWords[]>('series') ?? [];
  return list.map((words, i) => (words.form === 'points' ? ofPoints(arrays, words, i) : ofBuckets(arrays, words, i)));
}

/** Where a tensor comes in several modes, each series has an id and a label of its own. */
export function toldApart(series: Series[]): Series[] {
  const modes = new Map<string, number>();
  for (const { words } of series) modes.set(words.id, (modes.get(words.id) ?? 0) + 1);
  return series.map((each) => {
    const { id, name, mode } = each.words;
    if (modes.get(id) === 1 || !mode) return each;
    return { ...each, label: `${name} (${mode})`, words: { ...each.words, id: `${id}.${mode}` } };
  });
}

function ofPoints(arrays: Arrays, words: SeriesWords, i: number): Series {
  const step = arrays.f64(`${i}.step`);
  const time = arrays.f64(`${i}.time`);
  const raw = arrays.f64(`${i}.value`);
  const oddities: Oddity[] = [];
  const value = raw.map((x, at) => {
    if (Number.isFinite(x)) return x;
    const kind = Number.isNaN(x) ? 'nan' : x > 0 ? 'positive_inf' : 'negative_inf';
    oddities.push({ step: step[at]!, time: time[at]!, kind, count: 1 });
    return NaN;
  });
  return { words, label: words.name, step, time, value, oddities };
}

/** Each bucket is as wide as a pixel: its least and its largest number, in the order that its ends suggest. */
function ofBuckets(arrays: Arrays, words: SeriesWords, i: number): Series {
  const column = (name: string) => arrays.f64(`${i}.${name}`);
  const [firstStep, lastStep, firstTime, lastTime] = [column('step'), column('last_step'), column('time'), column('last_time')];
  const [min, max, first, last] = [column('min'), column('max'), column('first'), column('last')];
  const count = firstStep.length;
  const pairs = () => new Float64Array(2 * count);
  const measured = { step: pairs(), value: pairs() };
  const series: Series = { words, label: words.name, step: measured.step, time: pairs(), value: pairs(), oddities: [], measured };
  for (let at = 0; at < count; ++at) {
    const rising = first[at]! <= last[at]!;
    series.step.set([firstStep[at]!, lastStep[at]!], 2 * at);
    series.time.set([firstTime[at]!, lastTime[at]!], 2 * at);
    measured.value.set([first[at]!, last[at]!], 2 * at);
    series.value.set(rising ? [min[at]!, max[at]!] : [max[at]!, min[at]!], 2 * at);
  }
  for (const kind of ['nan', 'positive_inf', 'negative_inf'] as const) {
    column(kind).forEach((n, at) => {
      if (n > 0) series.oddities.push({ step: firstStep[at]!, time: firstTime[at]!, kind, count: n });
    });
  }
  return series;
}

/** The newest place at or before the step, -1 before the first. */
export function indexAt(series: Series, step: number): number {
  let low = 0;
  let high = series.step.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (series.step[middle]! <= step) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** What a person reads there: also what is not finite, which is no part of the line. */
export function readAt(series: Series, step: number): number | undefined {
  const at = indexAt(series, step);
  const odd = series.band ? undefined : series.oddities.find((each) => each.step === series.step[at]);
  if (!odd) return series.value[at];
  return odd.kind === 'nan' ? NaN : odd.kind === 'positive_inf' ? Infinity : -Infinity;
}

/** "0.0123", and of a group its spread and how many of its runs it is of. */
export function readInWords(series: Series, step: number): string {
  const value = readAt(series, step);
  if (value === undefined) return '';
  const { band } = series;
  if (!band) return short(value);
  const at = indexAt(series, step);
  const spread = Number.isFinite(band.low[at]) ? `, ${short(band.low[at]!)} to ${short(band.high[at]!)}` : '';
  const odd = band.notFinite[at]! > 0 ? `, ${band.notFinite[at]} not finite` : '';
  return `${short(value)}${spread} · ${band.runs[at]} of ${band.of} runs${odd}`;
}

/** `last`: of all, NaN where that is the newest. */
export function extremes(words: SeriesWords): { min: number; max: number; last: number } {
  return { min: numberOf(words.min), max: numberOf(words.max), last: numberOf(words.newest) };
}

/** Exponential moving average of the finite numbers, without the pull to zero at its beginning. */
export function smoothed(values: ArrayLike<number>, weight: number): Float64Array {
  const result = new Float64Array(values.length);
  let sum = 0;
  let mass = 0;
  for (let i = 0; i < values.length; ++i) {
    const value = values[i]!;
    if (Number.isFinite(value)) {
      sum = weight * sum + (1 - weight) * value;
      mass = weight * mass + (1 - weight);
    }
    result[i] = Number.isFinite(value) ? sum / mass : NaN;
  }
  return result;
}
