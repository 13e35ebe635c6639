// TimeStrip: phases and processors over the steps of the time bar, as paths. What is not known at a step is a gap.
import type { StepTimes } from '../data/step_times';
import { byStepOrder } from '../draw/phase_colours';
import type { TimeLine } from './time_line';

/** GET /runs/{run}/profile/timeline, as far as it is wanted here. */
export interface StripTimeline {
  from_unix_ms: number;
  to_unix_ms: number;
  buckets: number;
  system: { kind: string; values: (number | null)[] }[];
  phases: { worker: string; phase: string; values: (number | null)[] }[];
}

export interface StripPaths {
  phases: { phase: string; d: string }[];
  processors: string;
}

export const COLUMN = 3; // pixels
const LEAST = 0.04; // a share that has half a pixel

/** The place of each column in the buckets of the timeline, -1 where no step is known. */
function bucketsAt(line: TimeLine, width: number, times: StepTimes, { from_unix_ms, to_unix_ms, buckets }: StripTimeline): number[] {
  return Array.from({ length: Math.floor(width / COLUMN) }, (_, column) => {
    const at = times.timeOf(line.step((column + 0.5) * COLUMN));
    if (at === undefined) return -1;
    const bucket = Math.floor(((at - from_unix_ms) / Math.max(1, to_unix_ms - from_unix_ms)) * buckets);
    return bucket >= 0 && bucket < buckets ? bucket : bucket === buckets ? buckets - 1 : -1;
  });
}

/** `high` pixels of phases, and below them `low` of processors. */
export function stripPaths(timeline: StripTimeline, times: StepTimes, line: TimeLine, width: number, high: number, low: number): StripPaths {
  const places = bucketsAt(line, width, times, timeline);
  const [first] = timeline.phases;
  const phases = timeline.phases.filter(({ worker }) => worker === first?.worker).sort((a, b) => byStepOrder(a.phase, b.phase));
  const tops = new Float64Array(places.length);
  const drawn = phases.map(({ phase, values }) => {
    let d = '';
    places.forEach((bucket, column) => {
      const share = bucket < 0 ? 0 : (values[bucket] ?? 0);
      if (share >= LEAST) d += `M${column * COLUMN} ${(high * (1 - tops[column]! - share)).toFixed(1)}h${COLUMN}v${(high * share).toFixed(1)}h-${COLUMN}z`;
      tops[column]! += share;
    });
    return { phase, d };
  });
  const cpu = timeline.system.find(({ kind }) => kind === 'cpu')?.values ?? [];
  let processors = '';
  let pen = 'M';
  places.forEach((bucket, column) => {
    const value = bucket < 0 ? null : (cpu[bucket] ?? null);
    if (value === null) pen = 'M';
    else {
      processors += `${pen}${(column + 0.5) * COLUMN} ${(high + 1 + low * (1 - value / 100)).toFixed(1)}`;
      pen = 'L';
    }
  });
  return { phases: drawn.filter(({ d }) => d !== ''), processors };
}
