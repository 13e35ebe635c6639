// The addresses of tensors (docs/reference/api/tensors.yaml), typed.
import type { Range } from '../../data/step_ranges';
import type { Arrays, NdArray } from '../../data/safetensors';
import type { GivenFile, Source } from '../../data/source';

export interface TensorList {
  ids: string[];
  names: string[];
  dtypes: (string | null)[];
  shapes: (number[] | null)[];
  values: number[];
  statistics: number[];
  scalars: number[];
  reductions: number[];
  first_steps: number[];
  last_steps: number[];
  collections: Record<string, number[]>;
}

/** Another text once the tensor has other records. */
export function recordsText(list: TensorList, place: number): string {
  return [list.values, list.statistics, list.scalars, list.reductions, list.first_steps, list.last_steps].map((column) => column[place]).join(' ');
}

export interface TensorInfo {
  id: string;
  name: string;
  dtype: string | null;
  shape: number[] | null;
  collections: string[];
  workers: string[];
  steps: Range[];
  modes: { mode: string; steps: Range[] }[];
  forms: Partial<Record<'value' | 'statistics' | 'scalar' | 'shape' | 'reductions', Range[]>>;
}

/** Numbers of tensors or of steps: a row each, a column for each name. */
export class NumberTable {
  readonly names: readonly string[];
  private readonly numbers: Float64Array;
  constructor(arrays: Arrays) {
    this.names = arrays.json<string[]>('names') ?? [];
    this.numbers = arrays.f64('numbers');
  }
  at(row: number, name: string): number {
    const column = this.names.indexOf(name);
    return column < 0 ? NaN : (this.numbers[row * this.names.length + column] ?? NaN);
  }
}

export interface StringsValue {
  strings: string[];
  strings_shape: number[];
  shape: number[];
  step: number;
  worker: string;
  slice: string;
}

/** Exact elements of a part. */
export interface NumbersValue {
  array: NdArray;
  /** The run's word: "bfloat16"; complex numbers come as pairs. */
  dtype: string;
  /** Of the whole. */
  shape: number[];
  slice: string;
  worker: string;
}

export class TensorApi {
  constructor(
    private readonly source: Source,
    private readonly run: string,
  ) {}

  list(signal?: AbortSignal): Promise<TensorList> {
    return this.source.json(`/runs/${this.run}/tensors`, {}, signal);
  }

  info(id: string, signal?: AbortSignal): Promise<TensorInfo> {
    return this.source.json(this.path(id), {}, signal);
  }

  newest(ids: readonly string[], step: number | null, points: number, of: string, signal?: AbortSignal): Promise<Arrays> {
    return this.source.arrays(`/runs/${this.run}/statistics`, { tensors: ids.join(','), step: step ?? undefined, points, of }, signal);
  }

  statistics(id: string, worker?: string, signal?: AbortSignal): Promise<Arrays> {
    return this.source.arrays(`${this.path(id)}/statistics`, { worker, most: 500 }, signal);
  }

  histograms(id: string, worker?: string, signal?: AbortSignal): Promise<Arrays> {
    return this.source.arrays(`${this.path(id)}/histograms`, { worker, most: 64, bins: 128 }, signal);
  }

  pictures(id: string, parameters: Record<string, string | number | undefined>, signal?: AbortSignal): Promise<Arrays> {
    return this.source.arrays(`${this.path(id)}/pictures`, parameters, signal);
  }

  async value(id: string, step: number, slice: string, axes?: string, worker?: string, signal?: AbortSignal): Promise<NumbersValue> {
    const arrays = await this.source.arrays(`${this.path(id)}/steps/${step}/value`, { slice, axes, worker }, signal);
    const words = arrays.metadata;
    return {
      array: arrays.get('value'),
      dtype: words['dtype'] ?? '',
      shape: arrays.json<number[]>('shape') ?? [],
      slice: words['slice'] ?? '',
      worker: words['worker'] ?? '',
    };
  }

  strings(id: string, step: number, slice: string, worker?: string, signal?: AbortSignal): Promise<StringsValue> {
    return this.source.json(`${this.path(id)}/steps/${step}/value`, { slice, worker }, signal);
  }

  get givesFiles(): boolean {
    return this.source.givesFiles;
  }

  file(id: string, step: number, format: 'npy' | 'csv' | 'png', slice?: string, worker?: string): Promise<GivenFile> {
    return this.source.file(`${this.path(id)}/steps/${step}/value`, { format, slice, worker });
  }

  statisticsFile(id: string): Promise<GivenFile> {
    return this.source.file(`${this.path(id)}/statistics`, { format: 'csv' });
  }

  private path(id: string): string {
    return `/runs/${this.run}/tensors/${id}`;
  }
}
