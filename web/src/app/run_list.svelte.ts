// The list of runs as a view: a component that is mounted in the element that it is given.
import { mount as mountComponent, unmount } from 'svelte';

import type { MountView, PlaceContext, ViewState } from '../views/view';
import RunList from './RunList.svelte';

/** What the component reads of the link. */
export class ShownState {
  params = $state.raw<ViewState['params']>({});
}

export const mount: MountView<PlaceContext> = (element, context, state) => {
  element.style.height = '100%'; // its rows scroll, not the page
  const shown = new ShownState();
  shown.params = state.params;
  const component = mountComponent(RunList, { target: element, props: { context, shown } });
  return {
    update: (now) => (shown.params = now.params),
    snapshot: () => Promise.resolve(undefined),
    destroy: () => void unmount(component),
  };
};
