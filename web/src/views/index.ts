// All views of a run (those without one are in ../app/places.ts), in the order of the tabs. Each is loaded when it is first opened.
import type { ViewKind } from './view';

/** With what draws, which is larger than all the rest. */
async function loadScalars(): ReturnType<ViewKind['load']> {
  import('./scalars/chart').catch(() => undefined); // who draws with it gets its error
  return (await import('./scalars')).mount;
}

export const views: ViewKind[] = [
  { id: 'home', title: 'Home', key: 'h', load: async () => (await import('./home')).mount },
  { id: 'system', title: 'Time', key: 'm', load: async () => (await import('./system')).mount },
  { id: 'scalars', title: 'Scalars', key: 's', places: ['panel', 'together'], ahead: ['/series/choices'], load: loadScalars },
  { id: 'tensors', title: 'Tensors', key: 't', places: ['tensor'], load: async () => (await import('./tensors')).mount },
  { id: 'layers', title: 'Layers', key: 'v', load: async () => (await import('./layers')).mount },
  { id: 'attention', title: 'Attention', key: 'a', places: ['mode', 'layer', 'heads'], load: async () => (await import('./attention')).mount },
  { id: 'rules', title: 'Rules', key: 'u', places: ['rule'], load: async () => (await import('./rules')).mount },
  { id: 'confusion', title: 'Confusion', key: 'c', load: async () => (await import('./confusion')).mount },
  { id: 'compare', title: 'Compare', key: 'd', load: async () => (await import('./compare')).mount },
];

/** The view that a link's word means; one that nobody knows is the first. */
export function viewOf(id: string): ViewKind {
  return views.find((view) => view.id === id) ?? views[0]!;
}
