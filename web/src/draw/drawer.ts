// Drawer: controls that on a narrow screen are put away, so that what they control is seen first.
import { h } from './dom';
import './drawer.css';

const NARROW = '(max-width: 640px)';

/** On a wide screen the controls alone. It follows the screen's width until `gone`, or as long as somebody has it. */
export function drawerOf(title: string, controls: HTMLElement, gone?: AbortSignal): HTMLElement {
  const drawer = h('details', { class: 'drawer' }, h('summary', {}, title), controls);
  followWidth(drawer, gone);
  return drawer;
}

/** Open on a wide screen, shut on a narrow one. */
export function followWidth(drawer: HTMLDetailsElement, gone?: AbortSignal): void {
  const narrow = typeof matchMedia === 'function' ? matchMedia(NARROW) : null;
  drawer.open = !narrow?.matches;
  const held = new WeakRef(drawer); // the listener stays longer than a view that was left
  const follow = () => {
    const there = held.deref();
    if (there) there.open = !narrow?.matches;
    else narrow?.removeEventListener('change', follow);
  };
  narrow?.addEventListener('change', follow, { signal: gone });
}

/** Who is led to a control by a key finds its drawer open. */
export function openDrawerOf(control: HTMLElement): void {
  const drawer = control.closest<HTMLDetailsElement>('details.drawer');
  if (drawer) drawer.open = true;
}
