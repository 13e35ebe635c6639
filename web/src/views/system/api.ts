// What the server says of a run's time: GET /runs/{run}/profile and the addresses below it.

/** How much faster the training is when a fault is mended, as a ratio of throughput. */
export interface Gain {
  expected: number | null;
  min: number | null;
  max: number | null;
}

export interface Verdict {
  kind: 'finding' | 'nothing_found' | 'not_enough_data';
  rule: string | null;
  text: string;
  advice: string | null;
  step_share: number | null;
  gain: Gain | null;
}

export interface Distribution {
  min: number | null;
  p50: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
  mean: number | null;
}

export interface Outlier {
  step: number;
  worker: string;
  unix_ms: number;
  ms: number | null;
  median_ms: number | null;
  phase: string | null;
  phase_ms: number | null;
  cause: string | null;
}

export interface StepsPart {
  count: number;
  divided: number;
  wall_seconds: number | null;
  start_seconds: number | null;
  modes: { mode: string; count: number; seconds: number | null }[];
  duration_ms: Distribution | null;
  histogram: { edges_ms: number[]; counts: number[] } | null;
  outliers: Outlier[];
  /** With those that are not listed. */
  outlier_count?: number;
}

export interface PhaseShare {
  phase: string;
  share: number | null;
  ms_per_step: number | null;
  known_of_all_steps: boolean;
}

export interface WorkerPart {
  worker: string;
  host: string;
  steps: number | null;
  wall_seconds: number | null;
  median_ms: number | null;
  skew: number | null;
  phases: PhaseShare[];
}

export type Values = (number | null)[];

export interface SystemLine {
  kind: string;
  label: string;
  unit: string;
  instance: string;
  part: string;
  values: Values;
}

export interface PhaseLine {
  worker: string;
  phase: string;
  values: Values;
}

export interface Timeline {
  from_unix_ms: number;
  to_unix_ms: number;
  buckets: number;
  system: SystemLine[];
  phases: PhaseLine[];
  /** There are more than an answer holds. */
  left_out_lines?: number;
}

export interface UsageRow extends Distribution {
  kind: string;
  label: string;
  unit: string;
  instance: string;
  part: string;
}

export interface OperatorRow {
  name: string;
  kind: string;
  calls: number;
  total_ms: number | null;
  self_ms: number | null;
  share: number | null;
  longest_ms: number | null;
}

export interface OperatorsPart {
  first_step: number;
  last_step: number;
  steps: number;
  calls: number;
  lost_calls: number;
  damaged_steps?: number;
  left_out_steps?: number;
  wall_ms: number | null;
  rows: OperatorRow[];
}

export interface MemoryPart {
  worker: string;
  /** -1 is the host. */
  device: number;
  peak_bytes: number | null;
  peak_step: number | null;
  at_end_bytes: number | null;
  points: [unixMs: number, bytes: number | null][];
}

export interface Evidence {
  quantity: string;
  value: number | string | null;
  threshold: number | string | null;
  worker?: string | null;
  metric?: string | null;
  step?: number | null;
}

export interface JudgedRule {
  rule: string;
  status: 'fired' | 'ok' | 'not_applicable' | 'insufficient_data' | 'error';
  message: string;
  advice: string | null;
  step_share: number | null;
  gain: Gain | null;
  explained_by: string | null;
  evidence: Evidence[];
  parameters: Record<string, string | number>;
  summary: string;
}

export interface CostPart {
  capture_share: number | null;
  capture_budget: number | null;
  sampler_core_share: number | null;
  window_steps: number;
  window_slowdown: number | null;
}

export interface Comparison {
  run: string;
  rows: { what: string; unit: string; here: number | null; there: number | null }[];
}

export interface ProfileAnswer {
  run: { name: string; state: string; host: string; command: string[] | string; created_unix_ms: number; from_unix_ms: number; to_unix_ms: number };
  verdict: Verdict;
  steps: StepsPart;
  workers: WorkerPart[];
  timeline: Timeline;
  usage: UsageRow[];
  operators: OperatorsPart | null;
  stacks: OperatorsPart | null;
  memory: MemoryPart[];
  rules: JudgedRule[];
  cost: CostPart;
  comparison: Comparison | null;
}

/** GET /runs/{run}/profile/windows: one step of one worker whose operator calls were recorded. */
export interface RecordedStep {
  worker: string;
  step: number;
  calls: number;
  lost_calls: number;
  has_stacks: boolean;
}

/** GET /runs/{run}/profile/flame. The parent is the index of an earlier node; -1 of those that are called by none. */
export interface FlameAnswer {
  names: string[];
  nodes: [parent: number, name: number, selfUs: number, totalUs: number, calls: number][];
}
