// Drawer: controls that on a narrow screen are put away, so that what they control is seen first.
import { h } from './dom';
import './drawer.css';

const NARROW = '(max-width: 640px)';

/** On a wide screen the controls alone. Until `gone` it follows the screen's width. */
export function drawerOf(title: string, controls: HTMLElement, gone: AbortSignal): HTMLElement {
  const drawer = h('details', { class: 'drawer' }, h('summary', {}, title), controls);
  const narrow = typeof matchMedia === 'function' ? matchMedia(NARROW) : null;
  const follow = () => (drawer.open = !narrow?.matches);
  follow();
  narrow?.addEventListener('change', follow, { signal: gone });
  return drawer;
}
