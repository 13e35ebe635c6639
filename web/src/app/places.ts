// All views that belong to no run, in the order of the tabs. The first is shown where a link names none.
import { formatLink } from '../data/link';
import type { PlaceContext, ViewKind } from '../views/view';

export type Place = ViewKind<PlaceContext>;

const RUNS: Place = { id: 'runs', title: 'Runs', key: 'r', load: async () => (await import('./run_list.svelte')).mount };

export const places: Place[] = [RUNS];

/** The place that a link without a run means; one that nobody knows is the list of runs. */
export function placeOf(view: string, among: readonly Place[] = places): Place {
  return among.find(({ id }) => id === view) ?? among[0] ?? RUNS;
}

/** Its address. That of the list of runs is the page's own, "#/". */
export function linkTo(place: Place): string {
  return formatLink({ run: null, view: place === RUNS ? '' : place.id, step: null, params: {} });
}
