// The answer of GET /runs/{run}/layers (docs/reference/api/layers.yaml), typed.
import type { Arrays } from '../../data/safetensors';
import type { Source } from '../../data/source';

import type { KeptCollection } from './quantities';

interface About {
  quantity: string;
  collection: string;
  /** Empty: none knows a layer. */
  worker: string;
  workers: string[];
  left_out: number;
  steps: number;
  left: number;
  unreadable: number;
}

/** Of one cell: at how many steps the layer was not finite, and first at which. */
export interface OddCell {
  nan: number;
  inf: number;
  step: number;
}

export interface LayerMap {
  about: About;
  kept: KeptCollection[];
  layers: { id: string; name: string }[];
  /** Of each column. */
  firstStep: Float64Array;
  lastStep: Float64Array;
  steps: Float64Array;
  read: Float64Array;
  /** Layer by layer, a cell for each column; NaN where there is no finite number. */
  max: Float64Array;
  maxStep: Float64Array;
  odd: ReadonlyMap<number, OddCell>;
}

export interface LayerQuestion {
  quantity: string;
  collection?: string;
  mode?: string;
  worker?: string;
  columns: number;
}

export function layerMapOf(arrays: Arrays): LayerMap {
  const [cells, steps, nan, inf] = ['odd_cell', 'odd_step', 'nan', 'inf'].map((name) => arrays.f64(name)) as [Float64Array, Float64Array, Float64Array, Float64Array];
  const odd = new Map<number, OddCell>();
  cells.forEach((cell, i) => odd.set(cell, { nan: nan[i]!, inf: inf[i]!, step: steps[i]! }));
  return {
    about: arrays.json<About>('about')!,
    kept: arrays.json<KeptCollection[]>('kept') ?? [],
    layers: arrays.json<{ id: string; name: string }[]>('layers') ?? [],
    firstStep: arrays.f64('first_step'), lastStep: arrays.f64('last_step'), steps: arrays.f64('steps'), read: arrays.f64('read'),
    max: arrays.f64('max'), maxStep: arrays.f64('max_step'), odd,
  };
}

export async function askLayers(source: Source, run: string, question: LayerQuestion, signal: AbortSignal): Promise<LayerMap> {
  return layerMapOf(await source.arrays(`/runs/${run}/layers`, { ...question }, signal));
}
