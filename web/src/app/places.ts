// All views that belong to no run, in the order of the tabs. The first is shown where a link names none.
import { formatLink } from '../data/link';
import type { PlaceContext, ViewKind } from '../views/view';

export interface Place extends ViewKind<PlaceContext> {
  /** What the server must show beside the runs; undefined: nothing. */
  area?: string;
}

const RUNS: Place = { id: 'runs', title: 'Runs', key: 'r', load: async () => (await import('./run_list.svelte')).mount };

const JOBS: Place = { id: 'jobs', title: 'Jobs', key: 'j', area: 'jobs', load: async () => (await import('../views/jobs')).mount };

const EXPERIMENTS: Place = { id: 'experiments', title: 'Experiments', key: 'x', area: 'experiments', load: async () => (await import('../views/experiments')).mount };
const LINEAGE: Place = { id: 'lineage', title: 'Lineage', key: 'l', area: 'experiments', load: async () => (await import('../views/lineage')).mount };
const STUDIES: Place = { id: 'studies', title: 'Studies', key: 'y', area: 'studies', places: ['trial'], load: async () => (await import('../views/studies')).mount };

export const places: Place[] = [RUNS, JOBS, EXPERIMENTS, LINEAGE, STUDIES];

/** Those that a server of these areas has. */
export function openPlaces(areas: readonly string[]): Place[] {
  return places.filter(({ area }) => area === undefined || areas.includes(area));
}

/** The place that a link without a run means; one that nobody knows is the list of runs. */
export function placeOf(view: string, among: readonly Place[] = places): Place {
  return among.find(({ id }) => id === view) ?? among[0] ?? RUNS;
}

/** Its address. That of the list of runs is the page's own, "#/". */
export function linkTo(place: Place): string {
  return formatLink({ run: null, view: place === RUNS ? '' : place.id, step: null, params: {} });
}
