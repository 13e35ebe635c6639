// What the server answers about studies (docs/reference/api/studies.yaml).

export type TrialState = 'waiting' | 'running' | 'paused' | 'complete' | 'pruned' | 'failed';

export interface Outcome {
  has_target: boolean;
  is_met: boolean;
  best: number | null;
  is_feasible: boolean;
  front: number[];
  sentence: string;
}

export interface StudyHead {
  study: string;
  made_unix_ns: number;
  state: string;
  outcome: Outcome;
  counts: Record<TrialState, number>;
  damaged: number;
}

/** One that cannot be read has only its name and the reason. */
export type StudyRow = StudyHead | { study: string; error: string };

export interface StudiesAnswer {
  folder: string;
  studies: StudyRow[];
  cut: boolean;
}

export type TriedValue = number | string | boolean;

export interface ParameterSpec {
  kind: 'real' | 'integer' | 'choice';
  min?: number;
  max?: number;
  log?: boolean;
  step?: number;
  choices?: TriedValue[];
}

export interface MetricSpec {
  goal: 'minimize' | 'maximize';
  strategy: 'optimize' | 'constrain' | 'store';
  threshold?: number;
}

export interface StudySpec {
  parameters: Record<string, ParameterSpec>;
  metrics: Record<string, MetricSpec>;
  sampler: string;
  /** The file of the job that a trial is. */
  job?: string;
}

export interface TrialRow {
  number: number;
  state: TrialState;
  values: Record<string, TriedValue>;
  /** NaN and infinities are texts. */
  metrics: Record<string, number | string>;
  series: Record<string, { step: number; value: number | string }[]>;
  sampler: string;
  worker: string;
  job: string;
  attempts: number;
  /** 0: not yet. */
  suggested_unix_ns: number;
  started_unix_ns: number;
  ended_unix_ns: number;
  seconds: number | string;
  why: string;
  /** Of its job, where that is there; `id` where the page shows its folder. */
  run: { name: string; path: string; id: string | null } | null;
}

export interface StudyAnswer extends StudyHead {
  spec: StudySpec;
  from: number;
  count: number;
  cut: boolean;
  trials: TrialRow[];
}

/** Of the importances of all parameters; `low` and `high` are the ends of its interval. */
export interface Importance {
  importance: number | string;
  low: number | string;
  high: number | string;
}

export interface ParameterImportance extends Importance {
  parameter: string;
}

export interface PairImportance extends Importance {
  parameters: readonly [string, string];
}

export interface ImportanceAnswer {
  study: string;
  metric: string;
  /** So many were counted, and so many left out. */
  trials: number;
  left_out: number;
  /** What is to be known of it; may be empty. */
  note: string;
  ped_anova: ParameterImportance[];
  /** null: there are too few trials for it. */
  fanova: {
    /** Of what its model had not seen. null: nothing was held out. */
    r2: number | null;
    trusted: boolean;
    single: ParameterImportance[];
    pairs: PairImportance[];
  } | null;
}
