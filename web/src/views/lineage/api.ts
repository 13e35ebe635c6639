// What the server answers about a lineage (docs/reference/api/experiments.yaml).

export interface Vertex {
  /** "component:NAME", "artifact:sha256:...", "trial:NAME". */
  node: string;
  kind: string;
  name: string;
  type: string;
  /** In steps from the start: below 0 what led to it, above 0 what came of it. */
  distance: number;
  job: string | null;
}

export interface Edge {
  source: string;
  destination: string;
  type: string;
}

export interface LineageAnswer {
  start: string;
  /** The start first, then by distance. */
  vertices: Vertex[];
  edges: Edge[];
  /** There is more than the server counts. */
  cut: boolean;
  table: { columns: string[]; rows: string[][] };
}
