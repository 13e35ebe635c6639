// What the server answers about jobs (docs/reference/api/jobs.yaml).

export interface JobRow {
  name: string;
  /** Why it cannot be read: then nothing else is there. */
  error?: string;
  status?: string;
  secondary_status?: string;
  message?: string;
  submitted_unix_ms?: number;
  changed_unix_ms?: number;
  experiment?: string | null;
  hyperparameters?: Record<string, number | string>;
  /** How long its program has run, in all attempts. */
  ran_ms?: number;
  /** What it has measured so far, as far as that has been read. */
  metrics?: Record<string, MetricNumbers>;
}

/** NaN and infinities are texts; smallest and largest are of finite values, null when there is none. */
export interface MetricNumbers {
  last: number | string;
  min: number | null;
  max: number | null;
}

export interface JobsAnswer {
  folder: string;
  jobs: JobRow[];
  /** Of how many jobs metrics are still to be read. */
  reading: number;
}

export interface Transition {
  secondary_status: string;
  unix_ms: number;
  cause: string;
  message: string;
}

export interface JobLog {
  id: string;
  kind: string;
  name: string;
  bytes: number;
}

export interface JobAnswer {
  name: string;
  status: string;
  secondary_status: string;
  message: string;
  submitted_unix_ms: number;
  changed_unix_ms: number;
  ran_ms: number;
  attempt: number;
  host: string;
  program: string[];
  folder: string;
  max_run_seconds: number;
  run: { name: string; path: string; id: string | null };
  hyperparameters: Record<string, string>;
  resources: { nodes: number; tasks_per_node: number; cpus: number | null; gpus: number | null; memory_bytes: number | null };
  experiment: string | null;
  trial: string | null;
  component: string | null;
  spec_file: string;
  spec: string;
  exit: { code: number | null; signal: number | null; stopped_by_rule: boolean; killed: boolean; text: string } | null;
  transitions: Transition[];
  rules: JobRule[];
  logs: JobLog[];
  can_stop: boolean;
  can_resume: boolean;
}

export interface LogPiece {
  from: number;
  to: number;
  bytes: number;
  text: string;
}

export interface FilesAnswer {
  files: { name: string; bytes: number; given: boolean }[];
  not_listed: string[];
  count: number;
}

export interface JobRule {
  id: string;
  status: string;
  details: string;
  changed_unix_ms: number;
  alerts: number;
  step: number | null;
  log: string;
}
