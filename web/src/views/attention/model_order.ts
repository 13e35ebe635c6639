// The order in which the model view shows heads.
import type { Atlas } from './api';

export interface Place {
  layer: number;
  head: number;
}

export const METRIC_NAMES: Record<string, string> = {
  entropy: 'entropy (nats)',
  distance: 'mean distance (tokens)',
  sink: 'weight on the first token',
  separators: 'weight on separators',
  diagonal: 'weight on itself',
  previous: 'weight on the token before',
  drift: 'drift from the first step (nats)',
  nan_rows: 'rows with NaN or infinities',
};

export function metricName(metric: string): string {
  return METRIC_NAMES[metric] ?? metric;
}

export function metricAt(atlas: Atlas, metric: string, place: Place): number {
  const index = atlas.metrics.indexOf(metric);
  if (index < 0) return NaN;
  return atlas.numbers[(place.layer * atlas.heads + place.head) * atlas.metrics.length + index]!;
}

export function placesOf(headsOfLayer: readonly number[]): Place[] {
  return headsOfLayer.flatMap((heads, layer) => Array.from({ length: heads }, (_, head) => ({ layer, head })));
}

/** "layer", or a metric with the largest first, or "-" and a metric with the smallest first. Unknown numbers are last. */
export function orderOf(atlas: Atlas, headsOfLayer: readonly number[], sort: string): Place[] {
  const places = placesOf(headsOfLayer);
  const ascending = sort.startsWith('-');
  const metric = sort.replace(/^-/, '');
  if (!atlas.metrics.includes(metric)) return places;
  const key = (place: Place): number => {
    const value = metricAt(atlas, metric, place);
    return Number.isNaN(value) ? Infinity : ascending ? value : -value;
  };
  return places.map((place) => ({ place, by: key(place) })).sort((a, b) => a.by - b.by || 0).map(({ place }) => place);
}
