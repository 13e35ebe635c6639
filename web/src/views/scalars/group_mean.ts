// Series of groups of runs: at each step the mean of the runs that have it, and how far these lie apart.
import { baseOf } from './look';
import type { RunGroup } from '../run_groups';
import type { Band, Series } from '../series';

/** Sample standard deviation around the mean, or from the least to the largest run. */
export type Spread = 'deviation' | 'range';

const MOST_STEPS = 1000; // of a group's line

/** The points of one run: measured values at their steps, NaN where one was not finite. */
interface Points {
  step: ArrayLike<number>;
  value: ArrayLike<number>;
}

/** A series for each quantity and each group that has it. `own`: the run that is shown, whose series have no `other`. */
export function groupSeries(all: readonly Series[], own: string, groups: readonly RunGroup[], spread: Spread): Series[] {
  const byQuantity = new Map<string, Series[]>();
  for (const series of all) {
    const key = `${baseOf(series.words.id)} ${series.words.mode ?? ''}`;
    byQuantity.set(key, [...(byQuantity.get(key) ?? []), series]);
  }
  return [...byQuantity.values()].flatMap((alike) => groups.flatMap((group, place) => {
    const members = alike.filter(({ other, words }) => group.runs.includes(other?.run ?? own) && words.count > 0);
    return members.length === 0 ? [] : [meanOf(members, group, place, spread)];
  }));
}

function meanOf(members: readonly Series[], group: RunGroup, place: number, spread: Spread): Series {
  const points = members.map((series): Points => series.measured ?? series);
  const step = commonSteps(points);
  const readers = points.map((each) => new Reader(each));
  const value = new Float64Array(step.length);
  const band: Band = { low: new Float64Array(step.length), high: new Float64Array(step.length), runs: new Uint16Array(step.length), notFinite: new Uint16Array(step.length), of: group.runs.length };
  step.forEach((at, i) => {
    const there = readers.map((reader) => reader.at(at)).filter((each) => each !== undefined);
    const finite = there.filter(Number.isFinite);
    const { mean, low, high } = summaryOf(finite, spread);
    value[i] = mean;
    band.low[i] = low;
    band.high[i] = high;
    band.runs[i] = finite.length;
    band.notFinite[i] = there.length - finite.length;
  });
  const of = members[0]!.other?.of ?? members[0]!.words.id;
  return {
    words: wordsOf(members, value, step, `${of}@g${place}`), label: members[0]!.label, step, time: new Float64Array(step.length), value,
    oddities: members.flatMap(({ oddities }) => oddities), other: { run: `${group.name} (${group.runs.length === 1 ? '1 run' : `${group.runs.length} runs`})`, place, of }, band,
  };
}

/** Steps of any of them; of more than can be drawn evenly as many, the last one being kept. */
export function commonSteps(points: readonly Points[]): Float64Array {
  const steps = Float64Array.from(new Set(points.flatMap(({ step }) => Array.from(step)))).sort();
  if (steps.length <= MOST_STEPS) return steps;
  return Float64Array.from({ length: MOST_STEPS }, (_, i) => steps[Math.round((i * (steps.length - 1)) / (MOST_STEPS - 1))]!);
}

/** Asked for rising steps. */
class Reader {
  private i = 0;

  constructor(private readonly points: Points) {}

  /** Between two points on the line between them; beyond the first and the last there is nothing. */
  at(step: number): number | undefined {
    const { step: steps, value } = this.points;
    while (this.i + 1 < steps.length && steps[this.i + 1]! <= step) ++this.i;
    const here = steps[this.i];
    if (here === undefined || step < here) return undefined;
    if (step === here) return value[this.i];
    if (this.i + 1 >= steps.length) return undefined;
    const share = (step - here) / (steps[this.i + 1]! - here);
    return value[this.i]! + share * (value[this.i + 1]! - value[this.i]!);
  }
}

/** One run alone spreads nothing. */
function summaryOf(values: readonly number[], spread: Spread): { mean: number; low: number; high: number } {
  if (values.length === 0) return { mean: NaN, low: NaN, high: NaN };
  const mean = values.reduce((sum, each) => sum + each, 0) / values.length;
  if (values.length === 1) return { mean, low: NaN, high: NaN };
  if (spread === 'range') return { mean, low: Math.min(...values), high: Math.max(...values) };
  const deviation = Math.sqrt(values.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (values.length - 1));
  return { mean, low: mean - deviation, high: mean + deviation };
}

function wordsOf(members: readonly Series[], value: Float64Array, step: Float64Array, id: string): Series['words'] {
  const finite = value.filter(Number.isFinite);
  const sum = (pick: (words: Series['words']) => number) => members.reduce((total, { words }) => total + pick(words), 0);
  return {
    ...members[0]!.words, id, form: 'points', count: step.length, first_step: step[0] ?? -1, last_step: step.at(-1) ?? -1,
    min: finite.reduce((a, b) => Math.min(a, b), Infinity), max: finite.reduce((a, b) => Math.max(a, b), -Infinity), last: finite.at(-1) ?? NaN, newest: value.at(-1) ?? NaN,
    nan: sum(({ nan }) => nan), positive_inf: sum(({ positive_inf }) => positive_inf), negative_inf: sum(({ negative_inf }) => negative_inf),
    left: sum(({ left }) => left), unreadable: sum(({ unreadable }) => unreadable),
  };
}

/** Where the line of a group is the mean of fewer runs than it has, since some have ended or have not come so far. */
export function fewerAtTheEnd(all: readonly Series[]): string {
  const cut = all.flatMap(({ band, step, other }) => {
    const there = band ? Array.from(band.runs, (runs, i) => runs + band.notFinite[i]!) : [];
    const most = Math.max(...there);
    const place = there.lastIndexOf(most);
    return band && place >= 0 && place < step.length - 1 ? [{ name: other!.run, step: step[place]!, most }] : [];
  });
  if (cut.length === 0) return '';
  const { name, step, most } = cut[0]!;
  const more = new Set(cut.map((each) => each.name)).size - 1;
  return `Behind step ${step} the line of ${name} is the mean of fewer than ${most} runs${more > 0 ? `, and so are ${more} others further on` : ''}: the others end there. `;
}
