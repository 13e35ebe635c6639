// What the server answers about experiments (docs/reference/api/experiments.yaml).

export interface ExperimentRow {
  name: string;
  display_name: string;
  description: string;
  created_unix_ms: number;
  trials: number;
  components: number;
}

export interface ExperimentsAnswer {
  folder: string;
  experiments: ExperimentRow[];
}

export interface ComponentRow {
  name: string;
  display_name: string;
  job: string | null;
  status: string;
  message: string;
  created_unix_ms: number;
  start_unix_ms: number | null;
  end_unix_ms: number | null;
  trials: string[];
  parameters: Record<string, number | string>;
  /** Of finite values; NaN and infinities are texts. */
  metrics: Record<string, { last: number | string; min: number | null; max: number | null; avg: number | null; count: number }>;
}

export interface ExperimentAnswer {
  name: string;
  display_name: string;
  description: string;
  created_unix_ms: number;
  components: ComponentRow[];
  cut: boolean;
}
