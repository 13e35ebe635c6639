// What of the page is photographed: each view of a run, and the lists.
import { views } from '../src/views';

import type { Training } from './trainings';

export interface Look {
  name: string;
  link: string;
}

const MODES = ['head', 'arcs', 'matrix', 'text', 'neuron'];
const TABS = ['numbers', 'histogram', 'values', 'pictures'];

export function looksAt(training: Training): Look[] {
  const at = (view: string, words = '') => `#/run/${training.name}/${view}${words}`;
  const tensor = encodeURIComponent(training.tensor);
  return [
    ...views.map(({ id }) => ({ name: id, link: at(id) })),
    ...TABS.map((tab) => ({ name: `tensors-${tab}`, link: at('tensors', `?tensor=${tensor}&tab=${tab}`) })),
    ...(training.attention ? MODES.map((mode) => ({ name: `attention-${mode}`, link: at('attention', `?mode=${mode}`) })) : []),
  ];
}

export const places: Look[] = [
  { name: 'runs', link: '#/' },
  ...['jobs', 'experiments', 'lineage', 'studies'].map((id) => ({ name: id, link: `#/${id}` })),
];
