// GET /runs/{run}.
export interface RunAnswer {
  id: string;
  name: string;
  state: string;
  status?: string;
  secondary_status?: string;
  recorder: string;
  run_id: string;
  host: string;
  framework: string; // empty: not known
  command: string[];
  labels: Record<string, string>;
  created_unix_ms: number;
  last_unix_ms: number;
  world_size: number;
  workers: { name: string; writing: boolean }[];
  progress: { steps: number; last_step: number; last_trained_step: number; steps_per_second?: number; length?: RunLength; modes: { mode: string; steps: number; last_mode_step: number }[] };
  loss: { tensor: string; step: number; value: number | string } | null;
  transitions?: { status: string; start_unix_ms: number; end_unix_ms?: number; message: string }[];
  stop?: { reason: string; requested_by: string };
  rules: { id: string; rule: string; status: string; details: string }[];
  tensors: number;
  journal_bytes: number;
  collections: { name: string; tensors: number; keep?: string[]; every?: Record<string, number> }[];
  bills: { worker: string; budget: number; share: number; step: number; interval_factor: number; dropped: string[] }[];
  losses: { where: string; cause: string; count: number; bytes: number; by_writer: boolean }[];
  checkpoints: { worker: string; state: string; step: number; path: string; bytes: number; error: string; reason: string; unix_ms: number }[];
}

/** How many steps the run is to take, where a label says it. */
export interface RunLength {
  total_steps: number;
  done_steps: number;
  label: string;
  estimate: boolean;
  seconds_left?: number;
}

/** A cause, as GET /runs/{run}/diagnosis tells it. */
export interface Finding {
  cause: string;
  confidence: number;
  statement: string;
  evidence: string[];
  against: string[];
  next_step: string;
  place: string;
}
export interface DiagnosisAnswer {
  diagnosis: Finding | null;
  findings: Finding[];
  apart: string;
  missing: string[];
  /** Why it cannot be said that nothing is wrong, or nothing. */
  doubt: string;
  /** How the training failed, if it did: "exit code 1". */
  failure: string | null;
  steps: number;
  examined_steps: number;
}
