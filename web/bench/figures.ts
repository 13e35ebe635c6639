// Figures as the other benchmarks print them: a line each, JSON or a table.

export interface Goal {
  kind: 'at most' | 'at least' | 'none';
  bound: number;
}

export const atMost = (bound: number): Goal => ({ kind: 'at most', bound });
export const atLeast = (bound: number): Goal => ({ kind: 'at least', bound });
export const noGoal: Goal = { kind: 'none', bound: 0 };

export interface Figure {
  name: string;
  samples: number[];
  unit: string;
  goal: Goal;
  /** What keeps the figure from being better. */
  limit: string;
}

/** The sample below which `share` of them lie, between neighbours linearly. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)]!;
  return below + (sorted[Math.ceil(place)]! - below) * (place - Math.floor(place));
}

function met(goal: Goal, value: number): boolean {
  return goal.kind === 'none' || (goal.kind === 'at most' ? value <= goal.bound : value >= goal.bound);
}

export function print(figure: Figure, json: boolean): void {
  const value = quantile(figure.samples, 0.5);
  const goal = figure.goal.kind === 'none' ? 'none' : `${figure.goal.kind === 'at most' ? '<=' : '>='} ${figure.goal.bound}`;
  const ok = met(figure.goal, value);
  const spread =
    figure.samples.length > 1
      ? `; middle half of ${figure.samples.length} ${quantile(figure.samples, 0.25).toPrecision(4)} to ${quantile(figure.samples, 0.75).toPrecision(4)}`
      : '';
  const limit = figure.limit + spread;
  if (json) console.log(JSON.stringify({ name: figure.name, value, unit: figure.unit, goal, ok, limit }));
  else {
    const mark = figure.goal.kind === 'none' ? '' : ok ? 'ok' : 'MISSED';
    console.log(`${figure.name.padEnd(40)} ${value.toPrecision(4).padStart(10)} ${figure.unit.padEnd(6)} ${goal.padEnd(10)} ${mark.padEnd(6)} ${limit}`);
  }
}
