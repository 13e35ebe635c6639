// Trials as the pictures and the table of a study need them.
import { numberOf, short } from '../../draw/numbers';
import { choiceScale, integerScale, linearScale, logScale, scaleOf, type Scale } from '../../draw/scales';
import { measuredValues, type Value, type ValueRow } from '../value_rows';
import type { MetricSpec, ParameterSpec, StudyAnswer, StudySpec, TrialRow, TriedValue } from './api';

export interface Trial extends ValueRow {
  row: TrialRow;
  /** Parameters and metrics by their name in a table. */
  measured: ReadonlyMap<string, Value>;
}

function shownValue(value: TriedValue): Value {
  return typeof value === 'boolean' ? String(value) : value;
}

/** `named`: names of parameters and metrics, which stand for these also where this trial has none. */
export function trialOf(row: TrialRow, named: ReadonlySet<string> = new Set()): Trial {
  const parameters = Object.entries(row.values).map(([name, value]) => [name, shownValue(value)] as const);
  const measured = measuredValues(parameters, Object.entries(row.metrics).map(([name, value]) => [name, numberOf(value)] as const));
  const pairs = [...measured].map(([name, value]) => `${name}=${value}`);
  return {
    row, measured,
    values: new Map<string, Value>([...ownValues(row).filter(([name]) => !named.has(name)), ...measured]),
    text: [row.number, row.state, row.worker, row.job, row.sampler, row.why, ...pairs].join(' ').toLowerCase(),
  };
}

function ownValues(row: TrialRow): [string, Value][] {
  return [['state', row.state], ['trial', row.number], ['worker', row.worker], ['job', row.job], ['seconds', numberOf(row.seconds)]];
}

/** What is to be made as good as can be; of a study that only stores, all that it measures. */
export function objectivesOf(spec: StudySpec): string[] {
  const all = Object.keys(spec.metrics);
  const objectives = all.filter((name) => spec.metrics[name]!.strategy === 'optimize');
  return objectives.length > 0 ? objectives : all;
}

/** As a number: of a choice its index. NaN: it has none. */
export function parameterNumber(spec: ParameterSpec, value: TriedValue | undefined): number {
  if (spec.kind !== 'choice') return typeof value === 'number' ? value : NaN;
  const index = spec.choices?.indexOf(value as TriedValue) ?? -1;
  return index < 0 ? NaN : index;
}

export function metricNumber(row: TrialRow, metric: string): number {
  return numberOf(row.metrics[metric]);
}

export function parameterScale(spec: ParameterSpec): Scale {
  if (spec.kind === 'choice') return choiceScale((spec.choices ?? []).map(String));
  const [min, max] = [spec.min ?? 0, spec.max ?? 1];
  if (spec.log && min > 0) return logScale(min, max);
  return spec.kind === 'integer' ? integerScale(min, max) : linearScale(min, max);
}

/** Of what was measured, with the threshold in it. */
export function metricScale(rows: readonly TrialRow[], name: string, spec: MetricSpec | undefined, log: boolean): Scale {
  const values = rows.map((row) => metricNumber(row, name));
  return scaleOf(spec?.threshold === undefined ? values : [...values, spec.threshold], log);
}

function isBetter(goal: MetricSpec['goal'], a: number, b: number): boolean {
  return goal === 'minimize' ? a < b : a > b;
}

/** Does a trial keep to all constraints? */
export function isFeasible(row: TrialRow, metrics: Record<string, MetricSpec>): boolean {
  return Object.entries(metrics).every(([name, { strategy, goal, threshold }]) => {
    if (strategy !== 'constrain' || threshold === undefined) return true;
    const value = metricNumber(row, name);
    return goal === 'minimize' ? value <= threshold : value >= threshold;
  });
}

/** The best of the complete trials so far that keep to the constraints, at each trial that was better than all before it. */
export function runningBest(rows: readonly TrialRow[], metric: string, metrics: Record<string, MetricSpec>): [number: number, value: number][] {
  const goal = metrics[metric]?.goal ?? 'minimize';
  const steps: [number, number][] = [];
  for (const row of rows) {
    const value = metricNumber(row, metric);
    const last = steps.at(-1);
    const counts = row.state === 'complete' && Number.isFinite(value) && isFeasible(row, metrics);
    if (counts && (!last || isBetter(goal, value, last[1]))) steps.push([row.number, value]);
  }
  return steps;
}

/** By the trial's number, from 0, the worst, to 1, the best; equal ones are as good as the first of them. */
export function ranksOf(rows: readonly TrialRow[], metric: string, goal: MetricSpec['goal']): Map<number, number> {
  const known = rows.map((row) => [row.number, metricNumber(row, metric)] as const).filter(([, value]) => Number.isFinite(value));
  known.sort(([, a], [, b]) => (goal === 'minimize' ? b - a : a - b));
  const ranks = new Map<number, number>();
  known.forEach(([number, value], i) => {
    const before = known[i - 1];
    ranks.set(number, before?.[1] === value ? ranks.get(before[0])! : known.length === 1 ? 1 : i / (known.length - 1));
  });
  return ranks;
}

/** "Trial 3, complete: accuracy 0.93, lr 0.001". */
export function trialWords(row: TrialRow, first?: string): string {
  const metrics = Object.entries(row.metrics).map(([name, value]) => [name, short(numberOf(value))] as const);
  metrics.sort(([a], [b]) => Number(b === first) - Number(a === first));
  const values = Object.entries(row.values).map(([name, value]) => [name, typeof value === 'number' ? short(value) : String(value)] as const);
  const pairs = [...metrics, ...values].slice(0, 12).map(([name, value]) => `${name} ${value}`);
  return `Trial ${row.number}, ${row.state}${pairs.length > 0 ? `: ${pairs.join(', ')}` : ''}`;
}

/** What may go on: then it is asked again soon. */
export function isLive(answer: Pick<StudyAnswer, 'counts' | 'state'>): boolean {
  return answer.counts.running > 0 || !answer.state.startsWith('ended');
}
